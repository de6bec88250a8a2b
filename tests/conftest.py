from hypothesis import HealthCheck, settings

# Machines that run tests are shared, so how long an example takes says nothing.
settings.register_profile("storyproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("storyproof")
