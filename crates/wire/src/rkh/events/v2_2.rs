//! The events of dialect 2.2, made from `schemas/rkh-2.2.toml`: do not edit.
//!
//! The text of each event names its arguments and their types, in order.

use super::{Event, Group, Table, event, fields as f, group};
use crate::rkh::{Dialect, SymbolKind};

/// `mp` ptr, `nblock` nblk.
pub const MP_INIT: Event = event(0x00, "MP_INIT", 1, &[f::PTR, f::NBLK]);
/// `mp` ptr, `nfree` nblk.
pub const MP_GET: Event = event(0x01, "MP_GET", 1, &[f::PTR, f::NBLK]);
/// `mp` ptr, `nfree` nblk.
pub const MP_PUT: Event = event(0x02, "MP_PUT", 1, &[f::PTR, f::NBLK]);
/// `q` ptr, `ao` ptr, `nelem` nelem.
pub const RQ_INIT: Event = event(0x03, "RQ_INIT", 1, &[f::PTR, f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const RQ_GET: Event = event(0x04, "RQ_GET", 1, &[f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const RQ_FIFO: Event = event(0x05, "RQ_FIFO", 1, &[f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const RQ_LIFO: Event = event(0x06, "RQ_LIFO", 1, &[f::PTR, f::NELEM]);
/// `q` ptr.
pub const RQ_FULL: Event = event(0x07, "RQ_FULL", 1, &[f::PTR]);
/// `q` ptr.
pub const RQ_DPT: Event = event(0x08, "RQ_DPT", 1, &[f::PTR]);
/// `q` ptr.
pub const RQ_GET_LAST: Event = event(0x09, "RQ_GET_LAST", 1, &[f::PTR]);
/// `ao` ptr.
pub const SMA_ACT: Event = event(0x0A, "SMA_ACT", 3, &[f::PTR]);
/// `ao` ptr.
pub const SMA_TERM: Event = event(0x0B, "SMA_TERM", 3, &[f::PTR]);
/// `ao` ptr, `sig` sig.
pub const SMA_GET: Event = event(0x0C, "SMA_GET", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const SMA_FIFO: Event = event(0x0D, "SMA_FIFO", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const SMA_LIFO: Event = event(0x0E, "SMA_LIFO", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `prio` u8.
pub const SMA_REG: Event = event(0x0F, "SMA_REG", 3, &[f::PTR, f::U8]);
/// `ao` ptr, `prio` u8.
pub const SMA_UNREG: Event = event(0x10, "SMA_UNREG", 3, &[f::PTR, f::U8]);
/// `ao` ptr, `ist` ptr.
pub const SM_INIT: Event = event(0x11, "SM_INIT", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `h` ptr.
pub const SM_CLRH: Event = event(0x12, "SM_CLRH", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `sig` sig.
pub const SM_DCH: Event = event(0x13, "SM_DCH", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `sst` ptr, `tst` ptr.
pub const SM_TRN: Event = event(0x14, "SM_TRN", 3, &[f::PTR, f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_STATE: Event = event(0x15, "SM_STATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_ENSTATE: Event = event(0x16, "SM_ENSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_EXSTATE: Event = event(0x17, "SM_EXSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `nen` u8, `nex` u8.
pub const SM_NENEX: Event = event(0x18, "SM_NENEX", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `nta` u8, `nts` u8.
pub const SM_NTRNACT: Event = event(0x19, "SM_NTRNACT", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `st` ptr.
pub const SM_CSTATE: Event = event(0x1A, "SM_CSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `rc` u8.
pub const SM_DCH_RC: Event = event(0x1B, "SM_DCH_RC", 3, &[f::PTR, f::U8]);
/// `t` ptr, `sig` sig.
pub const TIM_INIT: Event = event(0x1C, "TIM_INIT", 1, &[f::PTR, f::SIG]);
/// `t` ptr, `ao` ptr, `nt` ntick.
pub const TIM_START: Event = event(0x1D, "TIM_START", 1, &[f::PTR, f::PTR, f::NTICK]);
/// `t` ptr, `nt` ntick.
pub const TIM_RESTART: Event = event(0x1E, "TIM_RESTART", 1, &[f::PTR, f::NTICK]);
/// `t` ptr.
pub const TIM_STOP: Event = event(0x1F, "TIM_STOP", 1, &[f::PTR]);
/// `t` ptr.
pub const TIM_TOUT: Event = event(0x20, "TIM_TOUT", 7, &[f::PTR]);
/// `t` ptr.
pub const TIM_REM: Event = event(0x21, "TIM_REM", 1, &[f::PTR]);
/// `t` ptr.
pub const TIM_ATTEMPT_STOP: Event = event(0x22, "TIM_ATTEMPT_STOP", 1, &[f::PTR]);
/// No arguments.
pub const RKH_EN: Event = event(0x23, "RKH_EN", 1, &[]);
/// No arguments.
pub const RKH_EX: Event = event(0x24, "RKH_EX", 1, &[]);
/// `ep` u8, `ss` u32, `es` esize.
pub const RKH_EPREG: Event = event(0x25, "RKH_EPREG", 1, &[f::U8, f::U32, f::ESIZE]);
/// `es` esize, `sig` sig.
pub const RKH_AE: Event = event(0x26, "RKH_AE", 1, &[f::ESIZE, f::SIG]);
/// `sig` sig.
pub const RKH_GC: Event = event(0x27, "RKH_GC", 1, &[f::SIG]);
/// `sig` sig.
pub const RKH_GCR: Event = event(0x28, "RKH_GCR", 1, &[f::SIG]);
/// `q` ptr, `sig` sig.
pub const RKH_DEFER: Event = event(0x29, "RKH_DEFER", 1, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const RKH_RCALL: Event = event(0x2A, "RKH_RCALL", 1, &[f::PTR, f::SIG]);
/// `obj` ptr, `nm` strz.
pub const OBJ: Event = event(0x2B, "OBJ", 0, &[f::PTR, f::STRZ]);
/// `sig` sig, `nm` strz.
pub const SIG: Event = event(0x2C, "SIG", 0, &[f::SIG, f::STRZ]);
/// `fn` fptr, `nm` strz.
pub const FUN: Event = event(0x2D, "FUN", 0, &[f::FPTR, f::STRZ]);
/// `fn` fptr.
pub const EXE_FUN: Event = event(0x2E, "EXE_FUN", 0, &[f::FPTR]);

/// All of them.
pub static TABLE: Table = Table {
    dialect: Dialect::V2_2,
    events: &[
        MP_INIT,
        MP_GET,
        MP_PUT,
        RQ_INIT,
        RQ_GET,
        RQ_FIFO,
        RQ_LIFO,
        RQ_FULL,
        RQ_DPT,
        RQ_GET_LAST,
        SMA_ACT,
        SMA_TERM,
        SMA_GET,
        SMA_FIFO,
        SMA_LIFO,
        SMA_REG,
        SMA_UNREG,
        SM_INIT,
        SM_CLRH,
        SM_DCH,
        SM_TRN,
        SM_STATE,
        SM_ENSTATE,
        SM_EXSTATE,
        SM_NENEX,
        SM_NTRNACT,
        SM_CSTATE,
        SM_DCH_RC,
        TIM_INIT,
        TIM_START,
        TIM_RESTART,
        TIM_STOP,
        TIM_TOUT,
        TIM_REM,
        TIM_ATTEMPT_STOP,
        RKH_EN,
        RKH_EX,
        RKH_EPREG,
        RKH_AE,
        RKH_GC,
        RKH_GCR,
        RKH_DEFER,
        RKH_RCALL,
        OBJ,
        SIG,
        FUN,
        EXE_FUN,
    ],
    groups: &GROUPS,
    user: f::REST,
    symbols: &[
        (SymbolKind::Object, &OBJ),
        (SymbolKind::Signal, &SIG),
        (SymbolKind::Function, &FUN),
    ],
    configuration: None,
    assertion: None,
};

static GROUPS: [Group; 7] = [
    group("MP", 0x00, 3),
    group("RQ", 0x03, 7),
    group("SMA", 0x0A, 7),
    group("SM", 0x11, 11),
    group("TIM", 0x1C, 7),
    group("RKH", 0x23, 12),
    group("USR", 0x2F, 209),
];
