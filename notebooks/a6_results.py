# %% [markdown]
# # The pooled recall hides two numbers
#
# To be replaced by the chapter.
