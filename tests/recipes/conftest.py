"""What the recipes add must stay out of the process of the other tests: nothing imports it here."""

collect_ignore = ["cyclic.py", "smooth_hinge.py"]
