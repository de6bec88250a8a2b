import os

from hypothesis import HealthCheck, settings

# Two workers with as many threads each as there are cores would wait for each other; tiny models need one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Machines that run tests are shared, so how long an example takes says nothing.
settings.register_profile("storyproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("storyproof")
