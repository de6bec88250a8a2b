"""Migrations: how the tables of older versions become those of this one."""
