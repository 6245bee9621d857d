"""The codes that people script against: stable, never reused, each explained in one sentence.

`docs/reasons.md` is generated from `REASONS`, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ReasonClass(StrEnum):
    """Where a code may appear."""

    FINDING = "finding"
    HOLD = "hold"
    NODE = "node"
    ALERT = "alert"
    ROLL = "roll"


class ReasonCode(StrEnum):
    """Every code, in the order of the documentation."""

    # budgets
    NEVER_OPENS = "NEVER_OPENS"
    DEAD_ENTRY = "DEAD_ENTRY"
    INVALID_SCHEDULE = "INVALID_SCHEDULE"
    UNGATED_OUTSIDE_SCHEDULE = "UNGATED_OUTSIDE_SCHEDULE"
    UNGATED_REASON = "UNGATED_REASON"
    APPLIES_TO_NOTHING = "APPLIES_TO_NOTHING"
    EMPTY_LIST = "EMPTY_LIST"
    DEFAULT_APPLIES = "DEFAULT_APPLIES"
    OPENING_UNGATED = "OPENING_UNGATED"
    PERCENT_ROUNDS_UP = "PERCENT_ROUNDS_UP"
    UNUSABLE_NUMBER = "UNUSABLE_NUMBER"
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    TOO_MANY_ENTRIES = "TOO_MANY_ENTRIES"
    CANNOT_KEEP_UP = "CANNOT_KEEP_UP"
    GUARD_LEFT_BEHIND = "GUARD_LEFT_BEHIND"
    IMPOSSIBLE_DATE = "IMPOSSIBLE_DATE"
    REFUSED_BY_SERVER = "REFUSED_BY_SERVER"
    # image
    AMI_TOO_YOUNG = "AMI_TOO_YOUNG"
    DENIED = "DENIED"
    ROLLBACK = "ROLLBACK"
    MIXED = "MIXED"
    SUSPECT_AMI = "SUSPECT_AMI"
    STALE_RESOLUTION = "STALE_RESOLUTION"
    NON_AMI_FIRST = "NON_AMI_FIRST"
    # time
    OBSERVE_MODE = "OBSERVE_MODE"
    OUTSIDE_WINDOW = "OUTSIDE_WINDOW"
    BLACKOUT = "BLACKOUT"
    NATIVE_BLACKOUT = "NATIVE_BLACKOUT"
    WILL_NOT_FIT = "WILL_NOT_FIT"
    PER_WINDOW_REACHED = "PER_WINDOW_REACHED"
    UNUSED_OPENINGS = "UNUSED_OPENINGS"
    PAUSE_BETWEEN = "PAUSE_BETWEEN"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    # alarms
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"
    ALARM_MISSING = "ALARM_MISSING"
    ALARM_FLAPPING = "ALARM_FLAPPING"
    NO_ALARMS_CONFIGURED = "NO_ALARMS_CONFIGURED"
    ALARM_ACTIONS_DISABLED = "ALARM_ACTIONS_DISABLED"
    ALARM_MUTED = "ALARM_MUTED"
    # cluster
    FROZEN = "FROZEN"
    INVALID = "INVALID"
    NODE_NOT_READY = "NODE_NOT_READY"
    NODE_STUCK_DELETING = "NODE_STUCK_DELETING"
    NODE_CORDONED = "NODE_CORDONED"
    SETTLING = "SETTLING"
    NOTHING_ELIGIBLE = "NOTHING_ELIGIBLE"
    SINGLE_NODE_POOL = "SINGLE_NODE_POOL"
    STATIC_NO_HEADROOM = "STATIC_NO_HEADROOM"
    STATIC_SCALING_DOWN = "STATIC_SCALING_DOWN"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    KARPENTER_PAUSED = "KARPENTER_PAUSED"
    VERSION_SKIPS_EMPTY = "VERSION_SKIPS_EMPTY"
    NO_DISRUPTION_REASON = "NO_DISRUPTION_REASON"
    WAITING_FOR = "WAITING_FOR"
    WOULD_FORCE = "WOULD_FORCE"
    GITOPS_OWNED = "GITOPS_OWNED"
    UNSUPPORTED = "UNSUPPORTED"
    UNKNOWN = "UNKNOWN"
    # node
    PDB_EXHAUSTED = "PDB_EXHAUSTED"
    PDB_NEVER_ALLOWS = "PDB_NEVER_ALLOWS"
    TWO_PDBS = "TWO_PDBS"
    POD_DO_NOT_DISRUPT = "POD_DO_NOT_DISRUPT"
    NODE_DO_NOT_DISRUPT = "NODE_DO_NOT_DISRUPT"
    DO_NOT_DRIFT = "DO_NOT_DRIFT"
    NOT_INITIALIZED = "NOT_INITIALIZED"
    NOMINATED = "NOMINATED"
    DELETING = "DELETING"
    VOLUME_STUCK = "VOLUME_STUCK"
    EXPIRES_FIRST = "EXPIRES_FIRST"
    # roll
    NOT_STARTED = "NOT_STARTED"
    IN_FLIGHT = "IN_FLIGHT"
    BAKING = "BAKING"
    BAKE_FAILED = "BAKE_FAILED"
    ROLL_FAILED = "ROLL_FAILED"
    REVERTED_BY = "REVERTED_BY"
    FOREIGN_EDIT = "FOREIGN_EDIT"
    GATE_LEFT_OPEN = "GATE_LEFT_OPEN"
    DRAIN_STUCK = "DRAIN_STUCK"
    # why a roll moved from one state to the next
    PLANNED = "PLANNED"
    OPENING = "OPENING"
    OPENED = "OPENED"
    SIGN_SEEN = "SIGN_SEEN"
    OLD_NODE_GONE = "OLD_NODE_GONE"
    REPLACEMENT_READY = "REPLACEMENT_READY"
    NO_REPLACEMENT_NEEDED = "NO_REPLACEMENT_NEEDED"
    LEFT_FOR_ANOTHER_REASON = "LEFT_FOR_ANOTHER_REASON"
    OPEN_TIMEOUT = "OPEN_TIMEOUT"
    ABANDONED = "ABANDONED"
    CLOSING_PROOF_PENDING = "CLOSING_PROOF_PENDING"
    PATCH_REFUSED = "PATCH_REFUSED"
    CLOSED_BY_PERSON = "CLOSED_BY_PERSON"


@dataclass(frozen=True, slots=True)
class Reason:
    """What a code means to a person."""

    classes: tuple[ReasonClass, ...]
    meaning: str
    lifted_by: str
    needs_person: bool = False


_F, _H, _N, _A, _R = ReasonClass
_C = ReasonCode
REASONS: Mapping[ReasonCode, Reason] = {
    _C.NEVER_OPENS: Reason(
        (_F,),
        "The limit for Drifted stays 0 in every minute of the coming year.",
        "A maintenance window for driftgate, or budgets that open by themselves.",
        True,
    ),
    _C.DEAD_ENTRY: Reason(
        (_F,), "An entry can never bind nor loosen anything.", "Removing the entry, or the one that hides it."
    ),
    _C.INVALID_SCHEDULE: Reason(
        (_F,),
        "Karpenter cannot parse an entry, and therefore allows 0 for every reason.",
        "Correcting the entry at the place named.",
        True,
    ),
    _C.UNGATED_OUTSIDE_SCHEDULE: Reason(
        (_F,),
        "Drifted is limited only while a schedule is active: a scheduled entry limits, it does not permit.",
        "An always-on entry for Drifted.",
    ),
    _C.UNGATED_REASON: Reason((_F,), "No entry limits this reason at all.", "An entry that applies to the reason."),
    _C.APPLIES_TO_NOTHING: Reason(
        (_F,),
        "An entry with `reasons: []` applies to no reason.",
        "Naming the reasons, or removing the field to mean all of them.",
    ),
    _C.EMPTY_LIST: Reason(
        (_F,), "`budgets: []` means no limit at all.", "At least one entry; `10%` is Karpenter's own default."
    ),
    _C.DEFAULT_APPLIES: Reason(
        (_F,), "No budgets are written, so the server fills in 10 % for every reason.", "Writing the budgets."
    ),
    _C.OPENING_UNGATED: Reason(
        (_F,),
        "When the schedule opens the gate, nothing limits how many nodes go.",
        "An always-on entry with the number of nodes that may go at once.",
    ),
    _C.PERCENT_ROUNDS_UP: Reason(
        (_F,),
        "A percentage rounds up, so in a pool of this size it allows more than it seems to.",
        "An absolute number.",
    ),
    _C.UNUSABLE_NUMBER: Reason(
        (_F, _H),
        "A number is larger than Karpenter can use (2147483647).",
        "A smaller number, or no entry where no limit is meant.",
        True,
    ),
    _C.UNKNOWN_FIELD: Reason(
        (_F, _H),
        "A budget entry has a field that this version of driftgate does not know.",
        "A newer driftgate, or removing the field.",
        True,
    ),
    _C.TOO_MANY_ENTRIES: Reason(
        (_F, _H, _A),
        "The list has no room for the entry it needs: the API server refuses more than 50.",
        "Merging entries.",
        True,
    ),
    _C.CANNOT_KEEP_UP: Reason(
        (_F,),
        "The openings are too few or too short for the nodes that wait.",
        "Longer or more windows, or more nodes per window.",
    ),
    _C.GUARD_LEFT_BEHIND: Reason(
        (_F, _H, _A),
        "A guard entry of driftgate stands in the list without a roll that needs it.",
        "`driftgate close` on this pool.",
        True,
    ),
    _C.IMPOSSIBLE_DATE: Reason(
        (_F,),
        "A schedule names a date that does not come within five years; Karpenter then counts the entry at all times.",
        "A date that exists, or no schedule.",
    ),
    _C.REFUSED_BY_SERVER: Reason(
        (_F,),
        "An entry breaks a rule of Karpenter's CRD, so the API server refuses the NodePool.",
        "Correcting the entry.",
        True,
    ),
    _C.AMI_TOO_YOUNG: Reason((_H,), "The image is younger than `ami.min_age`.", "Time."),
    _C.DENIED: Reason((_H,), "The image is denied by `ami.deny` or by a person.", "A newer image, or a person.", True),
    _C.ROLLBACK: Reason(
        (_A,),
        "The node class chose an older image than the nodes run: a recall or a pin moved back.",
        "Rolling the nodes, which driftgate does in the window like any other roll.",
    ),
    _C.MIXED: Reason(
        (_A,),
        "Some nodes already run an image that may not be rolled out yet: Karpenter launches new nodes on it.",
        "Pinning the image in the node class.",
    ),
    _C.SUSPECT_AMI: Reason(
        (_H,),
        "A roll onto this image failed or its nodes turned sick.",
        "`driftgate image clear`, or another image.",
        True,
    ),
    _C.STALE_RESOLUTION: Reason(
        (_F,),
        "The parameter already names another image than Karpenter has resolved; its cache lasts up to 24 hours.",
        "Time, or a restart of Karpenter.",
    ),
    _C.NON_AMI_FIRST: Reason(
        (_A,),
        "The node that Karpenter takes next drifted for another reason than its image.",
        "Nothing: one Drifted budget covers all reasons.",
    ),
    _C.OBSERVE_MODE: Reason((_H,), "The mode is `observe`: driftgate tells and never writes.", "`mode: act`."),
    _C.OUTSIDE_WINDOW: Reason((_H,), "No maintenance window is open.", "The next window."),
    _C.BLACKOUT: Reason((_H,), "A blackout or a closed change calendar covers this time.", "Its end."),
    _C.NATIVE_BLACKOUT: Reason(
        (_H,),
        "A scheduled entry of the NodePool shuts Drifted, and driftgate never edits scheduled entries.",
        "The end of its schedule, or replacing it by one always-on zero.",
    ),
    _C.WILL_NOT_FIT: Reason((_H,), "A roll would not end before the window or permission does.", "The next window."),
    _C.PER_WINDOW_REACHED: Reason((_H,), "This window's number of openings is used up.", "The next window."),
    _C.UNUSED_OPENINGS: Reason(
        (_H,),
        "Two openings of this window took no node.",
        "The next window; look at the nodes' blockers first.",
        True,
    ),
    _C.PAUSE_BETWEEN: Reason((_H,), "The pause after the last roll has not passed.", "Time."),
    _C.PAUSED: Reason((_H,), "A person paused rolls here.", "`driftgate resume`, or the pause's end."),
    _C.STOPPED: Reason(
        (_H,),
        "A closer stopped a roll here that was overdue, abandoned or alarmed.",
        "The roll's end, or the alarm's OK.",
    ),
    _C.ALARM: Reason((_H, _R), "A guarding alarm is in ALARM.", "Its return to OK."),
    _C.INSUFFICIENT_DATA: Reason(
        (_H,),
        "A guarding alarm has no data, so it guards nothing.",
        "Data, or `insufficient_data: allow` for this alarm.",
    ),
    _C.ALARM_MISSING: Reason((_H,), "A guarding alarm does not exist.", "Creating it, or correcting its name.", True),
    _C.ALARM_FLAPPING: Reason((_H,), "A guarding alarm changes its state too often to be believed.", "A quiet time."),
    _C.NO_ALARMS_CONFIGURED: Reason(
        (_H,),
        "Nobody said which alarms guard this pool.",
        "`guards.alarms`: a list, or `none` on purpose.",
        True,
    ),
    _C.ALARM_ACTIONS_DISABLED: Reason((_A,), "A guarding alarm's actions are disabled.", "Enabling them."),
    _C.ALARM_MUTED: Reason((_H, _A), "A guarding alarm is muted; while it is also in ALARM nothing opens.", "Its OK."),
    _C.FROZEN: Reason(
        (_H,),
        "Always-on zeros cover every reason: somebody froze this pool.",
        "Removing the freeze, or `respect.freeze: false`.",
        True,
    ),
    _C.INVALID: Reason(
        (_H,),
        "Karpenter cannot parse an entry, so no change to another entry can open the gate.",
        "Correcting the entry named.",
        True,
    ),
    _C.NODE_NOT_READY: Reason((_H,), "A node of the pool is not Ready and uses up the budget.", "Its recovery."),
    _C.NODE_STUCK_DELETING: Reason((_H,), "A node of the pool is being deleted and uses up the budget.", "Its end."),
    _C.NODE_CORDONED: Reason((_H,), "A node of the pool is cordoned: the pool is a node short.", "Uncordoning it."),
    _C.SETTLING: Reason((_H, _R), "The last roll's replacement is not Ready yet.", "Its Ready, or its deadline."),
    _C.NOTHING_ELIGIBLE: Reason(
        (_H,), "Every drifted node is kept by something.", "What the nodes' reasons name.", True
    ),
    _C.SINGLE_NODE_POOL: Reason((_H,), "One node is all of the pool.", "`open.allow_single_node_pool: true`.", True),
    _C.STATIC_NO_HEADROOM: Reason(
        (_H,),
        "A static pool without room for one more node is never rolled by Karpenter.",
        "`limits.nodes` of at least replicas + 1.",
        True,
    ),
    _C.STATIC_SCALING_DOWN: Reason((_H,), "A static pool is still scaling down.", "Its end."),
    _C.LIMIT_EXCEEDED: Reason(
        (_H,),
        "The pool is above its limits, so no replacement can launch.",
        "Higher limits or less usage.",
        True,
    ),
    _C.KARPENTER_PAUSED: Reason(
        (_H,),
        "A NodeClaim has no machine yet, and meanwhile Karpenter disrupts nothing in the cluster.",
        "Its launch or removal.",
    ),
    _C.VERSION_SKIPS_EMPTY: Reason(
        (_N, _H, _A),
        "This Karpenter (1.5 before 1.5.5, 1.6 before 1.6.3) never takes empty nodes for drift.",
        "Karpenter 1.5.5, 1.6.3, 1.7 or newer.",
    ),
    _C.NO_DISRUPTION_REASON: Reason(
        (_A,), "This Karpenter (before 1.2) does not say why it takes a node.", "Karpenter 1.2 or newer."
    ),
    _C.WAITING_FOR: Reason((_H,), "Another pool of the cluster rolls first, or has a roll in flight.", "Its end."),
    _C.WOULD_FORCE: Reason(
        (_H,),
        "The node has a terminationGracePeriod: drift would evict pods that ask not to be disrupted.",
        "`respect.do_not_disrupt: false`, or the pods' end.",
        True,
    ),
    _C.GITOPS_OWNED: Reason(
        (_A,),
        "A GitOps controller owns the budgets and may put Git's list back.",
        "Telling it to ignore `/spec/disruption/budgets`.",
    ),
    _C.UNSUPPORTED: Reason((_H,), "driftgate reports this kind of pool and never writes it.", "Nothing.", True),
    _C.UNKNOWN: Reason((_H, _A), "Something that the answer needs could not be read.", "Making it readable.", True),
    _C.PDB_EXHAUSTED: Reason((_N,), "A PodDisruptionBudget allows no eviction now.", "More healthy pods."),
    _C.PDB_NEVER_ALLOWS: Reason(
        (_N,),
        "A PodDisruptionBudget can never allow an eviction.",
        "Another replica, or a looser budget.",
        True,
    ),
    _C.TWO_PDBS: Reason(
        (_N,),
        "A pod is matched by two PodDisruptionBudgets, which eviction refuses.",
        "One budget per pod.",
        True,
    ),
    _C.POD_DO_NOT_DISRUPT: Reason((_N,), "A pod asks not to be disrupted.", "The pod's end, or its annotation's."),
    _C.NODE_DO_NOT_DISRUPT: Reason((_N,), "The node asks not to be disrupted.", "Removing the annotation."),
    _C.DO_NOT_DRIFT: Reason(
        (_N, _H),
        "The node asks not to be drifted by an annotation that Karpenter does not know.",
        "Removing it, or using `karpenter.sh/do-not-disrupt`, which Karpenter obeys.",
        True,
    ),
    _C.NOT_INITIALIZED: Reason((_N,), "The node is not initialized.", "Its initialization."),
    _C.NOMINATED: Reason((_N,), "A pending pod is about to use the node.", "A moment."),
    _C.DELETING: Reason((_N,), "The node is going already.", "Its end."),
    _C.VOLUME_STUCK: Reason((_N,), "A volume does not detach from the node.", "The storage driver.", True),
    _C.EXPIRES_FIRST: Reason((_N,), "The node expires before the window, without budget.", "Nothing."),
    _C.NOT_STARTED: Reason((_R, _A), "The gate was open and Karpenter took no node.", "See the nodes' blockers.", True),
    _C.IN_FLIGHT: Reason((_R, _H), "Karpenter has taken a node, and it is not gone yet.", "Its end."),
    _C.BAKING: Reason((_R, _H), "The first node on this image is being watched.", "The end of `guards.bake`."),
    _C.BAKE_FAILED: Reason(
        (_R, _A),
        "A node on the new image turned sick, or a guard turned, while it baked.",
        "`driftgate image clear`, or another image.",
        True,
    ),
    _C.ROLL_FAILED: Reason(
        (_R, _A),
        "Karpenter gave up on the replacement and kept the old node.",
        "Looking at the replacement.",
        True,
    ),
    _C.REVERTED_BY: Reason(
        (_R, _A),
        "Somebody else put the budgets back before a node was taken.",
        "Telling that controller to ignore `/spec/disruption/budgets`.",
        True,
    ),
    _C.FOREIGN_EDIT: Reason(
        (_R, _A),
        "Somebody edited the budgets while the gate was open; their edit was kept.",
        "Reading both lists.",
        True,
    ),
    _C.GATE_LEFT_OPEN: Reason(
        (_H, _R, _A),
        "A gate stood open past its time; it was closed first of all.",
        "Reading what went meanwhile.",
        True,
    ),
    _C.DRAIN_STUCK: Reason((_R, _A), "The old node has been draining for too long.", "What holds its pods.", True),
    _C.PLANNED: Reason((_R,), "The roll was decided and its slot reserved.", "The next step."),
    _C.OPENING: Reason((_R,), "The opening patch is about to be sent.", "The next step."),
    _C.OPENED: Reason((_R,), "The gate is open and Karpenter has not taken a node yet.", "A sign, or the deadline."),
    _C.SIGN_SEEN: Reason((_R,), "Karpenter took a node.", "The next step."),
    _C.OLD_NODE_GONE: Reason((_R,), "The old node is gone.", "The next step."),
    _C.REPLACEMENT_READY: Reason((_R,), "The replacement is Ready.", "The next step."),
    _C.NO_REPLACEMENT_NEEDED: Reason(
        (_R,),
        "The node went and Karpenter launched none in its place.",
        "Nothing: the image is still unproven.",
    ),
    _C.LEFT_FOR_ANOTHER_REASON: Reason(
        (_R,),
        "The node left for another reason than drift, which proves nothing about the image.",
        "Nothing.",
    ),
    _C.OPEN_TIMEOUT: Reason((_R,), "The gate was open for `open.open_timeout` without a sign.", "Nothing."),
    _C.ABANDONED: Reason((_R, _A), "The worker that opened the gate gave no sign of life.", "Nothing: it was closed."),
    _C.CLOSING_PROOF_PENDING: Reason(
        (_R, _H),
        "The gate is shut; whether Karpenter took a node is proved after the guard's minute.",
        "Two minutes.",
    ),
    _C.PATCH_REFUSED: Reason((_R,), "The NodePool changed under the opening, so nothing was opened.", "The next look."),
    _C.CLOSED_BY_PERSON: Reason((_R,), "A person closed the gate.", "Nothing."),
}
