"""Selection by resampling: stability selection and knockoffs."""
