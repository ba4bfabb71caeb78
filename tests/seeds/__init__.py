"""The statements of the original documents, as inputs with expected outcomes."""
