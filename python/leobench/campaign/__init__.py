"""Campaigns: many runs of one scenario's variants, that can be interrupted, resumed and trusted.

campaign = Campaign.load("campaigns/buffers.toml")
result = run_campaign(campaign, "results/buffers")
result.runs  # a row per run and metric
"""

from leobench.campaign.definition import Variant
from leobench.campaign.plan import Campaign, PlannedRun
from leobench.campaign.result import CampaignResult
from leobench.campaign.runner import Status, run_campaign

__all__ = ["Campaign", "CampaignResult", "PlannedRun", "Status", "Variant", "run_campaign"]
