# %% [markdown]
# # Ground truth without annotation
#
# To be replaced by the chapter.
