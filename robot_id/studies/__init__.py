"""What a researcher does: campaigns, the papers' tables, studies in simulation."""
