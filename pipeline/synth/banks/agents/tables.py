"""Tables that an agent analyses in a shell: what they are about, their columns, what hides in them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.banks.topic import words


@dataclass(frozen=True)
class Study:
    """A folder of tables: each has the key column, numbers and categories."""

    folder: str
    about: str
    key: str
    prefix: str
    tables: tuple[str, ...]
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    values: tuple[str, ...]


STUDIES = (
    Study(
        "bikes",
        "rentals of city bikes",
        "station_code",
        "ST",
        words("trips; stations; repairs; members; weather"),
        words("duration_sec; distance_m; fare_cents; battery_pct; elevation_gain; wait_sec"),
        words("member_kind; bike_model; start_zone; payment_kind"),
        words("harbour_loop; day_pass; cargo_mk2; north_bank; tandem_b; old_town; night_rate; campus_ring; e_assist_4"),
    ),
    Study(
        "meters",
        "readings of water meters",
        "meter_code",
        "WM",
        words("readings; meters; alarms; customers; tariffs"),
        words("litres_total; flow_peak; pressure_kpa; temp_inlet; gap_hours; leak_score"),
        words("meter_kind; district; firmware_tag; billing_group"),
        words("upper_valley; fw_2_11b; ultrasonic_x; east_quay; bulk_buyer; fw_3_00; mill_row; analog_p; hillside"),
    ),
    Study(
        "clinic",
        "visits of a clinic (made up)",
        "visit_code",
        "VC",
        words("visits; wards; lab_results; referrals; rosters"),
        words("wait_minutes; stay_days; cost_units; age_years; score_total; repeat_count"),
        words("ward_name; triage_level; insurance_kind; entry_kind"),
        words("ward_fern; walk_in; level_two_b; plan_basic; ward_birch; transfer; plan_plus; level_four; ward_maple"),
    ),
    Study(
        "store",
        "orders of a web shop",
        "order_code",
        "OR",
        words("orders; items; refunds; shipments; visitors"),
        words("net_cents; weight_g; discount_pct; items_count; days_open; click_depth"),
        words("channel_name; region_tag; carrier_kind; campaign"),
        words(
            "spring_mail; partner_site; region_nw; slow_freight; locker_box; region_se; autumn_push; app_banner; courier_b"
        ),
    ),
    Study(
        "weather",
        "readings of weather stations",
        "site_code",
        "WS",
        words("hourly; sites; outages; forecasts; calibrations"),
        words("temp_air; rain_mm; wind_gust; humidity_rel; dew_point; solar_wm2"),
        words("site_kind; sensor_rev; quality_flag; climate_zone"),
        words("ridge_top; rev_c; suspect_q2; coastal_wet; rev_e; valley_floor; good_q0; alpine_dry; airport"),
    ),
    Study(
        "trams",
        "runs of trams",
        "run_code",
        "TR",
        words("runs; vehicles; faults; crews; timetable"),
        words("delay_sec; dwell_sec; load_pct; energy_kwh; speed_avg; stops_missed"),
        words("line_name; depot_name; fault_kind; crew_shift"),
        words("line_7b; depot_west; door_block; late_shift; line_12; pantograph; depot_lake; line_3x; early_shift"),
    ),
)

PERIODS = words("2023_q1; 2023_q2; 2023_q3; 2023_q4; 2024_q1; 2024_q2")
REJECTS = words("duplicate key; negative value; time before start; unknown category; missing key; unit mixed up")
TASKS = (
    "Under data/{folder} lie tables with {about}. Check them (duplicates, missing keys, categories that the documentation does not know, values beyond the limits), explain why the totals of {first} and {second} disagree between the quarters, and write report.md with the numbers that support it.",
    "The quarterly figures of {folder} ({about}) look wrong to us. Find out which files, which records and which steps of the pipeline (its logs are under logs/) are to blame, compare {first} with {second}, and leave a report.md that names files, codes, counts and limits.",
    "Please analyse data/{folder}: {about}. We want to know how {first} and {second} relate, which records are outliers, whether the files are those that the pipeline wrote (checksums are in its logs), and what to exclude. Put the results into report.md, with every number that you rely on.",
)
