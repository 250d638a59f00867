//! The events of dialect 3.4, made from `schemas/rkh-3.4.toml`: do not edit.
//!
//! The text of each event names its arguments and their types, in order.

use super::{Event, Group, Table, event, fields as f, group};
use crate::rkh::{Dialect, SymbolKind};

/// `mp` ptr, `nblock` nblk, `bsize` bsize.
pub const MP_INIT: Event = event(0x00, "MP_INIT", 1, &[f::PTR, f::NBLK, f::BSIZE]);
/// `mp` ptr, `nfree` nblk, `nmin` nblk?mplwm.
pub const MP_GET: Event = event(0x01, "MP_GET", 1, &[f::PTR, f::NBLK, f::NBLK_MPLWM]);
/// `mp` ptr, `nfree` nblk.
pub const MP_PUT: Event = event(0x02, "MP_PUT", 1, &[f::PTR, f::NBLK]);
/// `q` ptr, `ao` ptr, `nelem` nelem.
pub const QUE_INIT: Event = event(0x20, "QUE_INIT", 1, &[f::PTR, f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem.
pub const QUE_GET: Event = event(0x21, "QUE_GET", 1, &[f::PTR, f::NELEM]);
/// `q` ptr, `nelem` nelem, `nmin` nelem?qlwm.
pub const QUE_FIFO: Event = event(0x22, "QUE_FIFO", 1, &[f::PTR, f::NELEM, f::NELEM_QLWM]);
/// `q` ptr, `nelem` nelem, `nmin` nelem?qlwm.
pub const QUE_LIFO: Event = event(0x23, "QUE_LIFO", 1, &[f::PTR, f::NELEM, f::NELEM_QLWM]);
/// `q` ptr.
pub const QUE_FULL: Event = event(0x24, "QUE_FULL", 1, &[f::PTR]);
/// `q` ptr.
pub const QUE_DPT: Event = event(0x25, "QUE_DPT", 1, &[f::PTR]);
/// `q` ptr.
pub const QUE_GET_LAST: Event = event(0x26, "QUE_GET_LAST", 1, &[f::PTR]);
/// `ao` ptr, `prio` u8, `qsize` u8.
pub const SMA_ACT: Event = event(0x40, "SMA_ACT", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `prio` u8.
pub const SMA_TERM: Event = event(0x41, "SMA_TERM", 3, &[f::PTR, f::U8]);
/// `ao` ptr, `sig` sig, `pid` u8, `rc` u8, `nelem` nelem, `nmin` nelem?qlwm.
pub const SMA_GET: Event = event(0x42, "SMA_GET", 7, &[f::PTR, f::SIG, f::U8, f::U8, f::NELEM, f::NELEM_QLWM]);
/// `ao` ptr, `sig` sig, `snr` ptr?sender, `pid` u8, `rc` u8, `nelem` nelem, `nmin` nelem?qlwm.
pub const SMA_FIFO: Event = event(0x43, "SMA_FIFO", 7, &[f::PTR, f::SIG, f::PTR_SENDER, f::U8, f::U8, f::NELEM, f::NELEM_QLWM]);
/// `ao` ptr, `sig` sig, `snr` ptr?sender, `pid` u8, `rc` u8, `nelem` nelem, `nmin` nelem?qlwm.
pub const SMA_LIFO: Event = event(0x44, "SMA_LIFO", 7, &[f::PTR, f::SIG, f::PTR_SENDER, f::U8, f::U8, f::NELEM, f::NELEM_QLWM]);
/// `ao` ptr, `prio` u8.
pub const SMA_REG: Event = event(0x45, "SMA_REG", 3, &[f::PTR, f::U8]);
/// `ao` ptr, `prio` u8.
pub const SMA_UNREG: Event = event(0x46, "SMA_UNREG", 3, &[f::PTR, f::U8]);
/// `q` ptr, `sig` sig.
pub const SMA_DEFER: Event = event(0x47, "SMA_DEFER", 1, &[f::PTR, f::SIG]);
/// `ao` ptr, `sig` sig.
pub const SMA_RCALL: Event = event(0x48, "SMA_RCALL", 1, &[f::PTR, f::SIG]);
/// `ao` ptr, `ist` ptr.
pub const SM_INIT: Event = event(0x60, "SM_INIT", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `h` ptr.
pub const SM_CLRH: Event = event(0x61, "SM_CLRH", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `sst` ptr, `tst` ptr.
pub const SM_TRN: Event = event(0x62, "SM_TRN", 3, &[f::PTR, f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_STATE: Event = event(0x63, "SM_STATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_ENSTATE: Event = event(0x64, "SM_ENSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `st` ptr.
pub const SM_EXSTATE: Event = event(0x65, "SM_EXSTATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr, `nen` u8, `nex` u8.
pub const SM_NENEX: Event = event(0x66, "SM_NENEX", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `nta` u8, `nts` u8.
pub const SM_NTRNACT: Event = event(0x67, "SM_NTRNACT", 3, &[f::PTR, f::U8, f::U8]);
/// `ao` ptr, `st` ptr.
pub const SM_TS_STATE: Event = event(0x68, "SM_TS_STATE", 3, &[f::PTR, f::PTR]);
/// `ao` ptr.
pub const SM_EVT_PROC: Event = event(0x69, "SM_EVT_PROC", 3, &[f::PTR]);
/// `ao` ptr, `sig` sig.
pub const SM_EVT_NFOUND: Event = event(0x6A, "SM_EVT_NFOUND", 7, &[f::PTR, f::SIG]);
/// `ao` ptr.
pub const SM_GRD_FALSE: Event = event(0x6B, "SM_GRD_FALSE", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_CND_NFOUND: Event = event(0x6C, "SM_CND_NFOUND", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_UNKN_STATE: Event = event(0x6D, "SM_UNKN_STATE", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_EX_HLEVEL: Event = event(0x6E, "SM_EX_HLEVEL", 3, &[f::PTR]);
/// `ao` ptr.
pub const SM_EX_TSEG: Event = event(0x6F, "SM_EX_TSEG", 3, &[f::PTR]);
/// `type` u8, `ao` ptr, `st` ptr, `act` fptr.
pub const SM_EXE_ACT: Event = event(0x70, "SM_EXE_ACT", 3, &[f::U8, f::PTR, f::PTR, f::FPTR]);
/// `ao` ptr, `sig` sig, `st` ptr.
pub const SM_DCH: Event = event(0x71, "SM_DCH", 7, &[f::PTR, f::SIG, f::PTR]);
/// `t` ptr, `sig` sig.
pub const TMR_INIT: Event = event(0x80, "TMR_INIT", 1, &[f::PTR, f::SIG]);
/// `t` ptr, `ao` ptr, `nt` ntick, `per` ntick.
pub const TMR_START: Event = event(0x81, "TMR_START", 1, &[f::PTR, f::PTR, f::NTICK, f::NTICK]);
/// `t` ptr, `nt` ntick, `per` ntick.
pub const TMR_STOP: Event = event(0x82, "TMR_STOP", 1, &[f::PTR, f::NTICK, f::NTICK]);
/// `t` ptr, `sig` sig, `ao` ptr.
pub const TMR_TOUT: Event = event(0x83, "TMR_TOUT", 7, &[f::PTR, f::SIG, f::PTR]);
/// `t` ptr.
pub const TMR_REM: Event = event(0x84, "TMR_REM", 1, &[f::PTR]);
/// No arguments.
pub const FWK_EN: Event = event(0xA0, "FWK_EN", 1, &[]);
/// No arguments.
pub const FWK_EX: Event = event(0xA1, "FWK_EX", 1, &[]);
/// `ep` u8, `ss` u32, `es` esize, `ps` nblk.
pub const FWK_EPREG: Event = event(0xA2, "FWK_EPREG", 1, &[f::U8, f::U32, f::ESIZE, f::NBLK]);
/// `es` esize, `sig` sig, `pid` u8, `rc` u8, `nused` nblk, `nmin` nblk?mplwm, `actor` ptr.
pub const FWK_AE: Event = event(0xA3, "FWK_AE", 1, &[f::ESIZE, f::SIG, f::U8, f::U8, f::NBLK, f::NBLK_MPLWM, f::PTR]);
/// `sig` sig, `pid` u8, `rc` u8.
pub const FWK_GC: Event = event(0xA4, "FWK_GC", 1, &[f::SIG, f::U8, f::U8]);
/// `sig` sig, `pid` u8, `rc` u8, `nused` nblk, `nmin` nblk?mplwm, `actor` ptr.
pub const FWK_GCR: Event = event(0xA5, "FWK_GCR", 1, &[f::SIG, f::U8, f::U8, f::NBLK, f::NBLK_MPLWM, f::PTR]);
/// `obj` ptr, `nm` strz.
pub const FWK_OBJ: Event = event(0xA6, "FWK_OBJ", 0, &[f::PTR, f::STRZ]);
/// `sig` sig, `nm` strz.
pub const FWK_SIG: Event = event(0xA7, "FWK_SIG", 0, &[f::SIG, f::STRZ]);
/// `fn` ptr, `nm` strz.
pub const FWK_FUN: Event = event(0xA8, "FWK_FUN", 0, &[f::PTR, f::STRZ]);
/// `fn` fptr.
pub const FWK_EXE_FUN: Event = event(0xA9, "FWK_EXE_FUN", 0, &[f::FPTR]);
/// `fn` fptr, `snr` ptr?sender, `ao` ptr?sender.
pub const FWK_SYNC_EVT: Event = event(0xAA, "FWK_SYNC_EVT", 0, &[f::FPTR, f::PTR_SENDER, f::PTR_SENDER]);
/// `ut` teid, `nm` strz.
pub const FWK_TUSR: Event = event(0xAB, "FWK_TUSR", 0, &[f::TEID, f::STRZ]);
/// `version` u16, `flags` u32, `sig` hi4, `stamp` lo4, `ptr` hi4, `ntimer` lo4, `nblock` hi4, `nelem` lo4, `esize` lo4, `bsize` hi4, `max_pools` lo4, `hz` u16.
pub const FWK_TCFG: Event = event(0xAC, "FWK_TCFG", 0, &[f::U16, f::U32, f::HI4, f::LO4, f::HI4, f::LO4, f::HI4, f::LO4, f::LO4, f::HI4, f::LO4, f::U16]);
/// `mod` strz, `line` u16.
pub const FWK_ASSERT: Event = event(0xAD, "FWK_ASSERT", 1, &[f::STRZ, f::U16]);
/// `obj` ptr, `nm` strz.
pub const FWK_AO: Event = event(0xAE, "FWK_AO", 0, &[f::PTR, f::STRZ]);
/// `ao` ptr, `obj` ptr, `nm` strz.
pub const FWK_STATE: Event = event(0xAF, "FWK_STATE", 0, &[f::PTR, f::PTR, f::STRZ]);
/// `ao` ptr, `obj` ptr, `nm` strz.
pub const FWK_PSTATE: Event = event(0xB0, "FWK_PSTATE", 0, &[f::PTR, f::PTR, f::STRZ]);
/// `obj` ptr, `nm` strz.
pub const FWK_TIMER: Event = event(0xB1, "FWK_TIMER", 0, &[f::PTR, f::STRZ]);
/// `ep` u8, `nm` strz.
pub const FWK_EPOOL: Event = event(0xB2, "FWK_EPOOL", 0, &[f::U8, f::STRZ]);
/// `obj` ptr, `nm` strz.
pub const FWK_QUEUE: Event = event(0xB3, "FWK_QUEUE", 0, &[f::PTR, f::STRZ]);
/// `obj` ptr, `nm` strz.
pub const FWK_ACTOR: Event = event(0xB4, "FWK_ACTOR", 0, &[f::PTR, f::STRZ]);
/// `line` u32.
pub const UT_INIT: Event = event(0xE0, "UT_INIT", 0, &[f::U32]);
/// `line` u32.
pub const UT_CLEANUP: Event = event(0xE1, "UT_CLEANUP", 0, &[f::U32]);
/// `line` u32.
pub const UT_VERIFY: Event = event(0xE2, "UT_VERIFY", 0, &[f::U32]);
/// `line` u32, `grp` u8.
pub const UT_IGNORE_GROUP: Event = event(0xE3, "UT_IGNORE_GROUP", 0, &[f::U32, f::U8]);
/// `line` u32, `evt` u8, `expected` rest.
pub const UT_EXPECT: Event = event(0xE4, "UT_EXPECT", 0, &[f::U32, f::U8, f::REST]);
/// `line` u32, `evt` teid.
pub const UT_EXPECT_ANYARGS: Event = event(0xE5, "UT_EXPECT_ANYARGS", 0, &[f::U32, f::TEID]);
/// `line` u32, `evt` teid.
pub const UT_IGNORE: Event = event(0xE6, "UT_IGNORE", 0, &[f::U32, f::TEID]);
/// `line` u32, `evt` teid, `argix` u8.
pub const UT_IGNORE_ARG: Event = event(0xE7, "UT_IGNORE_ARG", 0, &[f::U32, f::TEID, f::U8]);
/// `line` u32, `msg` strz.
pub const UT_SUCCESS: Event = event(0xE8, "UT_SUCCESS", 0, &[f::U32, f::STRZ]);
/// `line` u32, `msg` strz.
pub const UT_FAIL: Event = event(0xE9, "UT_FAIL", 0, &[f::U32, f::STRZ]);

/// All of them.
pub static TABLE: Table = Table {
    dialect: Dialect::V3_4,
    events: &[
        MP_INIT,
        MP_GET,
        MP_PUT,
        QUE_INIT,
        QUE_GET,
        QUE_FIFO,
        QUE_LIFO,
        QUE_FULL,
        QUE_DPT,
        QUE_GET_LAST,
        SMA_ACT,
        SMA_TERM,
        SMA_GET,
        SMA_FIFO,
        SMA_LIFO,
        SMA_REG,
        SMA_UNREG,
        SMA_DEFER,
        SMA_RCALL,
        SM_INIT,
        SM_CLRH,
        SM_TRN,
        SM_STATE,
        SM_ENSTATE,
        SM_EXSTATE,
        SM_NENEX,
        SM_NTRNACT,
        SM_TS_STATE,
        SM_EVT_PROC,
        SM_EVT_NFOUND,
        SM_GRD_FALSE,
        SM_CND_NFOUND,
        SM_UNKN_STATE,
        SM_EX_HLEVEL,
        SM_EX_TSEG,
        SM_EXE_ACT,
        SM_DCH,
        TMR_INIT,
        TMR_START,
        TMR_STOP,
        TMR_TOUT,
        TMR_REM,
        FWK_EN,
        FWK_EX,
        FWK_EPREG,
        FWK_AE,
        FWK_GC,
        FWK_GCR,
        FWK_OBJ,
        FWK_SIG,
        FWK_FUN,
        FWK_EXE_FUN,
        FWK_SYNC_EVT,
        FWK_TUSR,
        FWK_TCFG,
        FWK_ASSERT,
        FWK_AO,
        FWK_STATE,
        FWK_PSTATE,
        FWK_TIMER,
        FWK_EPOOL,
        FWK_QUEUE,
        FWK_ACTOR,
        UT_INIT,
        UT_CLEANUP,
        UT_VERIFY,
        UT_IGNORE_GROUP,
        UT_EXPECT,
        UT_EXPECT_ANYARGS,
        UT_IGNORE,
        UT_IGNORE_ARG,
        UT_SUCCESS,
        UT_FAIL,
    ],
    groups: &GROUPS,
    user: f::USR,
    symbols: &[
        (SymbolKind::Object, &FWK_OBJ),
        (SymbolKind::Signal, &FWK_SIG),
        (SymbolKind::Function, &FWK_FUN),
        (SymbolKind::UserEvent, &FWK_TUSR),
        (SymbolKind::ActiveObject, &FWK_AO),
        (SymbolKind::State, &FWK_STATE),
        (SymbolKind::Pseudostate, &FWK_PSTATE),
        (SymbolKind::Timer, &FWK_TIMER),
        (SymbolKind::EventPool, &FWK_EPOOL),
        (SymbolKind::Queue, &FWK_QUEUE),
        (SymbolKind::Actor, &FWK_ACTOR),
    ],
    configuration: Some(&FWK_TCFG),
    assertion: Some(&FWK_ASSERT),
};

static GROUPS: [Group; 8] = [
    group("MP", 0x00, 3),
    group("QUE", 0x20, 7),
    group("SMA", 0x40, 9),
    group("SM", 0x60, 18),
    group("TMR", 0x80, 5),
    group("FWK", 0xA0, 21),
    group("USR", 0xC0, 32),
    group("UT", 0xE0, 10),
];
