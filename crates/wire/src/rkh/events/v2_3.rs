//! The events of dialect 2.3, made from `schemas/rkh-2.3.toml`: do not edit.
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
pub const RQ_INIT: Event = event(0x20, "RQ_INIT", 1, &[f::PTR, f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const RQ_GET: Event = event(0x21, "RQ_GET", 1, &[f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const RQ_FIFO: Event = event(0x22, "RQ_FIFO", 1, &[f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const RQ_LIFO: Event = event(0x23, "RQ_LIFO", 1, &[f::PTR, f::NELEM]);
/// `q` ptr.
pub const RQ_FULL: Event = event(0x24, "RQ_FULL", 1, &[f::PTR]);
/// `q` ptr.
pub const RQ_DPT: Event = event(0x25, "RQ_DPT", 1, &[f::PTR]);
/// `q` ptr.
pub const RQ_GET_LAST: Event = event(0x26, "RQ_GET_LAST", 1, &[f::PTR]);
/// `ao` ptr.
pub const SMA_ACT: Event = event(0x40, "SMA_ACT", 3, &[f::PTR]);
/// `ao` ptr.
pub const SMA_TERM: Event = event(0x41, "SMA_TERM", 3, &[f::PTR]);
/// `ao` ptr, `sig` sig.
pub const SMA_GET: Event = event(0x42, "SMA_GET", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const SMA_FIFO: Event = event(0x43, "SMA_FIFO", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const SMA_LIFO: Event = event(0x44, "SMA_LIFO", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `prio` u8.
pub const SMA_REG: Event = event(0x45, "SMA_REG", 3, &[f::PTR, f::U8]);
/// `ao` ptr, `prio` u8.
pub const SMA_UNREG: Event = event(0x46, "SMA_UNREG", 3, &[f::PTR, f::U8]);
/// `ao` ptr, `ist` ptr.
pub const SM_INIT: Event = event(0x60, "SM_INIT", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `h` ptr.
pub const SM_CLRH: Event = event(0x61, "SM_CLRH", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `sig` sig.
pub const SM_DCH: Event = event(0x62, "SM_DCH", 7, &[f::PTR, f::SIG]);
/// `ao` ptr, `sst` ptr, `tst` ptr.
pub const SM_TRN: Event = event(0x63, "SM_TRN", 3, &[f::PTR, f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_STATE: Event = event(0x64, "SM_STATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_ENSTATE: Event = event(0x65, "SM_ENSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_EXSTATE: Event = event(0x66, "SM_EXSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `nen` u8, `nex` u8.
pub const SM_NENEX: Event = event(0x67, "SM_NENEX", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `nta` u8, `nts` u8.
pub const SM_NTRNACT: Event = event(0x68, "SM_NTRNACT", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `st` ptr.
pub const SM_CSTATE: Event = event(0x69, "SM_CSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr.
pub const SM_EVT_PROC: Event = event(0x6A, "SM_EVT_PROC", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_EVT_NFOUND: Event = event(0x6B, "SM_EVT_NFOUND", 7, &[f::PTR]);
/// `ao` ptr.
pub const SM_GRD_FALSE: Event = event(0x6C, "SM_GRD_FALSE", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_CND_NFOUND: Event = event(0x6D, "SM_CND_NFOUND", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_UNKN_STATE: Event = event(0x6E, "SM_UNKN_STATE", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_EX_HLEVEL: Event = event(0x6F, "SM_EX_HLEVEL", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_EX_TSEG: Event = event(0x70, "SM_EX_TSEG", 3, &[f::PTR]);
/// `t` ptr, `sig` sig.
pub const TIM_INIT: Event = event(0x80, "TIM_INIT", 1, &[f::PTR, f::SIG]);
/// `t` ptr, `ao` ptr, `nt` ntick.
pub const TIM_START: Event = event(0x81, "TIM_START", 1, &[f::PTR, f::PTR, f::NTICK]);
/// `t` ptr.
pub const TIM_STOP: Event = event(0x82, "TIM_STOP", 1, &[f::PTR]);
/// `t` ptr.
pub const TIM_TOUT: Event = event(0x83, "TIM_TOUT", 7, &[f::PTR]);
/// `t` ptr.
pub const TIM_REM: Event = event(0x84, "TIM_REM", 1, &[f::PTR]);
/// No arguments.
pub const FWK_EN: Event = event(0xA0, "FWK_EN", 1, &[]);
/// No arguments.
pub const FWK_EX: Event = event(0xA1, "FWK_EX", 1, &[]);
/// `ep` u8, `ss` u32, `es` esize.
pub const FWK_EPREG: Event = event(0xA2, "FWK_EPREG", 1, &[f::U8, f::U32, f::ESIZE]);
/// `es` esize, `sig` sig.
pub const FWK_AE: Event = event(0xA3, "FWK_AE", 1, &[f::ESIZE, f::SIG]);
/// `sig` sig.
pub const FWK_GC: Event = event(0xA4, "FWK_GC", 1, &[f::SIG]);
/// `sig` sig.
pub const FWK_GCR: Event = event(0xA5, "FWK_GCR", 1, &[f::SIG]);
/// `q` ptr, `sig` sig.
pub const FWK_DEFER: Event = event(0xA6, "FWK_DEFER", 1, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const FWK_RCALL: Event = event(0xA7, "FWK_RCALL", 1, &[f::PTR, f::SIG]);
/// `obj` ptr, `nm` strz.
pub const FWK_OBJ: Event = event(0xA8, "FWK_OBJ", 0, &[f::PTR, f::STRZ]);
/// `sig` sig, `nm` strz.
pub const FWK_SIG: Event = event(0xA9, "FWK_SIG", 0, &[f::SIG, f::STRZ]);
/// `fn` fptr, `nm` strz.
pub const FWK_FUN: Event = event(0xAA, "FWK_FUN", 0, &[f::FPTR, f::STRZ]);
/// `fn` fptr.
pub const FWK_EXE_FUN: Event = event(0xAB, "FWK_EXE_FUN", 0, &[f::FPTR]);
/// `ut` u8, `nm` strz.
pub const FWK_TUSR: Event = event(0xAC, "FWK_TUSR", 0, &[f::U8, f::STRZ]);
/// `sig` hi4, `stamp` lo4, `ptr` hi4, `ntimer` lo4, `nblock` hi4, `nelem` lo4, `esize` hi4, `sequence` lo4, `checksum` hi4, `stamps` lo4.
pub const FWK_TCFG: Event = event(0xAD, "FWK_TCFG", 0, &[f::HI4, f::LO4, f::HI4, f::LO4, f::HI4, f::LO4, f::HI4, f::LO4, f::HI4, f::LO4]);
/// `mod` strz, `line` u16.
pub const FWK_ASSERT: Event = event(0xAE, "FWK_ASSERT", 1, &[f::STRZ, f::U16]);

/// All of them.
pub static TABLE: Table = Table {
    dialect: Dialect::V2_3,
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
        SM_EVT_PROC,
        SM_EVT_NFOUND,
        SM_GRD_FALSE,
        SM_CND_NFOUND,
        SM_UNKN_STATE,
        SM_EX_HLEVEL,
        SM_EX_TSEG,
        TIM_INIT,
        TIM_START,
        TIM_STOP,
        TIM_TOUT,
        TIM_REM,
        FWK_EN,
        FWK_EX,
        FWK_EPREG,
        FWK_AE,
        FWK_GC,
        FWK_GCR,
        FWK_DEFER,
        FWK_RCALL,
        FWK_OBJ,
        FWK_SIG,
        FWK_FUN,
        FWK_EXE_FUN,
        FWK_TUSR,
        FWK_TCFG,
        FWK_ASSERT,
    ],
    groups: &GROUPS,
    user: f::USR,
    symbols: &[
        (SymbolKind::Object, &FWK_OBJ),
        (SymbolKind::Signal, &FWK_SIG),
        (SymbolKind::Function, &FWK_FUN),
        (SymbolKind::UserEvent, &FWK_TUSR),
    ],
    configuration: Some(&FWK_TCFG),
    assertion: Some(&FWK_ASSERT),
};

static GROUPS: [Group; 7] = [
    group("MP", 0x00, 3),
    group("RQ", 0x20, 7),
    group("SMA", 0x40, 7),
    group("SM", 0x60, 17),
    group("TIM", 0x80, 5),
    group("FWK", 0xA0, 15),
    group("USR", 0xC0, 32),
];
