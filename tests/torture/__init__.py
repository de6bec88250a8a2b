"""Trials that try to lose data or crash: killed processes, hostile servers, damaged files. Run by `make torture`."""
