"""Forward selection and matching pursuit for any loss."""
