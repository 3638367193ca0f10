"""The vqa judge: what questions about a clip's action and character are answered by.

docs/judges/vqa-answers.md tells how replies are read, kept, counted and corrected.
"""
