"""CI for prompts, agents and skills: did this change make it worse, really?"""

__version__ = "0.1.0"
