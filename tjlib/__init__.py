"""When to trust an LLM agent: judges, uncertainty and their measurement.

The package is thin on purpose: records carry (`trace`), the desk acts
(`desk`), measures count (`measure`), charts only draw (`charts`). Importing
it loads nothing but the version; import the module you need.
"""

__version__ = "0.1.0"
