"""The order of the gallery: folders of examples/ along the flow of the data, and the files of each."""

from pathlib import Path

GALLERY = {
    "cases": ["plot_house_prices", "plot_diagnosis_costs", "plot_diabetes_follow_up"],
    "raw_data": ["plot_stems_and_stop_words", "plot_spam", "plot_names", "plot_splice_sites", "plot_why_normalize"],
    "lifts": ["plot_parabolic_lift", "plot_conic_sections", "plot_lift_and_random_features"],
    "similarity": [
        "plot_black_holes",
        "plot_landmarks",
        "plot_penalty_and_bandwidth",
        "plot_nearest_neighbors",
        "plot_primal_dual",
        "plot_kernel_perceptron",
    ],
    "random_features": [
        "plot_random_features_error",
        "plot_certificate",
        "plot_plain_and_random_features",
        "plot_projections",
    ],
    "learned": ["plot_dictionary", "plot_visual_words", "plot_repair", "plot_network_features"],
    "selection": ["plot_filters_blind", "plot_greedy_paths", "plot_soft_threshold"],
}


def in_order(name: str) -> tuple[int, str]:
    """The sort key of an example: its position in the list of its folder; files that are not listed come last."""
    listed = [each for folder in GALLERY.values() for each in folder]
    stem = Path(name).stem
    return (listed.index(stem) if stem in listed else len(listed), stem)
