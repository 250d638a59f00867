//! The rows of all events, generated from `schemas/rkh.toml`: do not edit.
//!
//! Each row has a code, filters, fields, a role and dialects. Its comment names the arguments.

use super::Role::*;
use super::fields::*;
use super::{Dialect, Event, Role, Row, Table};
use super::{count, dialects, event, events, group, select, with_role};
use crate::rkh::SymbolKind::*;

dialects! {
    /// The events of dialect 2.0-pre.
    V2_0Pre REST [
        group("MP", 0x00, 3), group("RQ", 0x03, 7), group("SMA", 0x0A, 7),
        group("SM", 0x11, 11), group("TIM", 0x1C, 7), group("RKH", 0x23, 10),
        group("USR", 0x2D, 211)
    ];
    /// The events of dialect 2.0.
    V2_0 REST [
        group("MP", 0x00, 3), group("RQ", 0x03, 7), group("SMA", 0x0A, 7),
        group("SM", 0x11, 11), group("TIM", 0x1C, 7), group("RKH", 0x23, 10),
        group("USR", 0x2D, 211)
    ];
    /// The events of dialect 2.2.
    V2_2 REST [
        group("MP", 0x00, 3), group("RQ", 0x03, 7), group("SMA", 0x0A, 7),
        group("SM", 0x11, 11), group("TIM", 0x1C, 7), group("RKH", 0x23, 12),
        group("USR", 0x2F, 209)
    ];
    /// The events of dialect 2.3.
    V2_3 USR [
        group("MP", 0x00, 3), group("RQ", 0x20, 7), group("SMA", 0x40, 7),
        group("SM", 0x60, 17), group("TIM", 0x80, 5), group("FWK", 0xA0, 15),
        group("USR", 0xC0, 32)
    ];
    /// The events of dialect 2.4.3.
    V2_4_3 USR [
        group("MP", 0x00, 3), group("RQ", 0x20, 7), group("SMA", 0x40, 7),
        group("SM", 0x60, 17), group("TIM", 0x80, 5), group("FWK", 0xA0, 21),
        group("USR", 0xC0, 32)
    ];
    /// The events of dialect 2.4.4.
    V2_4_4 USR [
        group("MP", 0x00, 3), group("RQ", 0x20, 7), group("SMA", 0x40, 8),
        group("SM", 0x60, 16), group("TMR", 0x80, 5), group("FWK", 0xA0, 21),
        group("USR", 0xC0, 32)
    ];
    /// The events of dialect 2.4.5.
    V2_4_5 USR [
        group("MP", 0x00, 3), group("RQ", 0x20, 7), group("SMA", 0x40, 8),
        group("SM", 0x60, 17), group("TMR", 0x80, 5), group("FWK", 0xA0, 22),
        group("USR", 0xC0, 32), group("UT", 0xE0, 10)
    ];
    /// The events of dialect 3.4.
    V3_4 USR [
        group("MP", 0x00, 3), group("QUE", 0x20, 7), group("SMA", 0x40, 9),
        group("SM", 0x60, 18), group("TMR", 0x80, 5), group("FWK", 0xA0, 21),
        group("USR", 0xC0, 32), group("UT", 0xE0, 10)
    ];
}

events! {
    /// Code 0x00: `mp` ptr, `nblock` nblk.
    MP_INIT 0x00 1 [PTR, NBLK] Plain, V2_0Pre V2_0 V2_2 V2_3;
    /// Code 0x00: `mp` ptr, `nblock` nblk, `bsize` bsize.
    MP_INIT 0x00 1 [PTR, NBLK, BSIZE] Plain, V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x01: `mp` ptr, `nfree` nblk.
    MP_GET 0x01 1 [PTR, NBLK] Plain, V2_0Pre V2_0 V2_2 V2_3;
    /// Code 0x01: `mp` ptr, `nfree` nblk, `nmin` nblk?mplwm.
    MP_GET 0x01 1 [PTR, NBLK, NBLK_MPLWM] Plain, V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x02: `mp` ptr, `nfree` nblk.
    MP_PUT 0x02 1 [PTR, NBLK] Plain, V2_0Pre V2_0 V2_2 V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x03: `q` ptr, `ao` ptr, `nelem` nelem.
    RQ_INIT 0x03 1 [PTR, PTR, NELEM] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x04: `q` ptr, `nelem` nelem.
    RQ_GET 0x04 1 [PTR, NELEM] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x05: `q` ptr, `nelem` nelem.
    RQ_FIFO 0x05 1 [PTR, NELEM] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x06: `q` ptr, `nelem` nelem.
    RQ_LIFO 0x06 1 [PTR, NELEM] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x07: `q` ptr.
    RQ_FULL 0x07 1 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x08: `q` ptr.
    RQ_DPT 0x08 1 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x09: `q` ptr.
    RQ_GET_LAST 0x09 1 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x0A: `ao` ptr.
    SMA_ACT 0x0A 3 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x0B: `ao` ptr.
    SMA_TERM 0x0B 3 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x0C: `ao` ptr, `sig` sig.
    SMA_GET 0x0C 7 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x0D: `ao` ptr, `sig` sig.
    SMA_FIFO 0x0D 7 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x0E: `ao` ptr, `sig` sig.
    SMA_LIFO 0x0E 7 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x0F: `ao` ptr, `prio` u8.
    SMA_REG 0x0F 3 [PTR, U8] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x10: `ao` ptr, `prio` u8.
    SMA_UNREG 0x10 3 [PTR, U8] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x11: `ao` ptr, `ist` ptr.
    SM_INIT 0x11 3 [PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x12: `ao` ptr, `h` ptr.
    SM_CLRH 0x12 3 [PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x13: `ao` ptr, `sig` sig.
    SM_DCH 0x13 7 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x14: `ao` ptr, `sst` ptr, `tst` ptr.
    SM_TRN 0x14 3 [PTR, PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x15: `ao` ptr, `st` ptr.
    SM_STATE 0x15 3 [PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x16: `ao` ptr, `st` ptr.
    SM_ENSTATE 0x16 3 [PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x17: `ao` ptr, `st` ptr.
    SM_EXSTATE 0x17 3 [PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x18: `ao` ptr, `nen` u8, `nex` u8.
    SM_NENEX 0x18 3 [PTR, U8, U8] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x19: `ao` ptr, `nta` u8.
    SM_NTRNACT 0x19 3 [PTR, U8] Plain, V2_0Pre;
    /// Code 0x19: `ao` ptr, `nta` u8, `nts` u8.
    SM_NTRNACT 0x19 3 [PTR, U8, U8] Plain, V2_0 V2_2;
    /// Code 0x1A: `ao` ptr, `st` ptr.
    SM_CSTATE 0x1A 3 [PTR, PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x1B: `ao` ptr, `rc` u8.
    SM_DCH_RC 0x1B 3 [PTR, U8] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x1C: `t` ptr, `sig` sig.
    TIM_INIT 0x1C 1 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x1D: `t` ptr, `ao` ptr, `nt` ntick.
    TIM_START 0x1D 1 [PTR, PTR, NTICK] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x1E: `t` ptr, `nt` ntick.
    TIM_RESTART 0x1E 1 [PTR, NTICK] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x1F: `t` ptr.
    TIM_STOP 0x1F 1 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x20: `t` ptr.
    TIM_TOUT 0x20 7 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x20: `q` ptr, `ao` ptr, `nelem` nelem.
    RQ_INIT 0x20 1 [PTR, PTR, NELEM] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x20: `q` ptr, `ao` ptr, `nelem` nelem.
    QUE_INIT 0x20 1 [PTR, PTR, NELEM] Plain, V3_4;
    /// Code 0x21: `t` ptr.
    TIM_REM 0x21 1 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x21: `q` ptr, `nelem` nelem.
    RQ_GET 0x21 1 [PTR, NELEM] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x21: `q` ptr, `nelem` nelem.
    QUE_GET 0x21 1 [PTR, NELEM] Plain, V3_4;
    /// Code 0x22: `t` ptr.
    TIM_ATTEMPT_STOP 0x22 1 [PTR] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x22: `q` ptr, `nelem` nelem.
    RQ_FIFO 0x22 1 [PTR, NELEM] Plain, V2_3;
    /// Code 0x22: `q` ptr, `nelem` nelem, `nmin` nelem?qlwm.
    RQ_FIFO 0x22 1 [PTR, NELEM, NELEM_QLWM] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x22: `q` ptr, `nelem` nelem, `nmin` nelem?qlwm.
    QUE_FIFO 0x22 1 [PTR, NELEM, NELEM_QLWM] Plain, V3_4;
    /// Code 0x23: no arguments.
    RKH_EN 0x23 1 [] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x23: `q` ptr, `nelem` nelem.
    RQ_LIFO 0x23 1 [PTR, NELEM] Plain, V2_3;
    /// Code 0x23: `q` ptr, `nelem` nelem, `nmin` nelem?qlwm.
    RQ_LIFO 0x23 1 [PTR, NELEM, NELEM_QLWM] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x23: `q` ptr, `nelem` nelem, `nmin` nelem?qlwm.
    QUE_LIFO 0x23 1 [PTR, NELEM, NELEM_QLWM] Plain, V3_4;
    /// Code 0x24: no arguments.
    RKH_EX 0x24 1 [] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x24: `q` ptr.
    RQ_FULL 0x24 1 [PTR] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x24: `q` ptr.
    QUE_FULL 0x24 1 [PTR] Plain, V3_4;
    /// Code 0x25: `ep` u8, `ss` u32, `es` esize.
    RKH_EPREG 0x25 1 [U8, U32, ESIZE] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x25: `q` ptr.
    RQ_DPT 0x25 1 [PTR] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x25: `q` ptr.
    QUE_DPT 0x25 1 [PTR] Plain, V3_4;
    /// Code 0x26: `es` esize, `sig` sig.
    RKH_AE 0x26 1 [ESIZE, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x26: `q` ptr.
    RQ_GET_LAST 0x26 1 [PTR] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x26: `q` ptr.
    QUE_GET_LAST 0x26 1 [PTR] Plain, V3_4;
    /// Code 0x27: `sig` sig.
    RKH_GC 0x27 1 [SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x28: `sig` sig.
    RKH_GCR 0x28 1 [SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x29: `q` ptr, `sig` sig.
    RKH_DEFER 0x29 1 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x2A: `ao` ptr, `sig` sig.
    RKH_RCALL 0x2A 1 [PTR, SIG] Plain, V2_0Pre V2_0 V2_2;
    /// Code 0x2B: `obj` ptr, `nm` strz.
    OBJ 0x2B 0 [PTR, STRZ] Names(Object), V2_0Pre V2_0 V2_2;
    /// Code 0x2C: `sig` sig, `nm` strz.
    SIG 0x2C 0 [SIG, STRZ] Names(Signal), V2_0Pre V2_0 V2_2;
    /// Code 0x2D: `fn` fptr, `nm` strz.
    FUN 0x2D 0 [FPTR, STRZ] Names(Function), V2_2;
    /// Code 0x2E: `fn` fptr.
    EXE_FUN 0x2E 0 [FPTR] Plain, V2_2;
    /// Code 0x40: `ao` ptr.
    SMA_ACT 0x40 3 [PTR] Plain, V2_3;
    /// Code 0x40: `ao` ptr, `prio` u8.
    SMA_ACT 0x40 3 [PTR, U8] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x40: `ao` ptr, `prio` u8, `qsize` u8.
    SMA_ACT 0x40 3 [PTR, U8, U8] Plain, V3_4;
    /// Code 0x41: `ao` ptr.
    SMA_TERM 0x41 3 [PTR] Plain, V2_3;
    /// Code 0x41: `ao` ptr, `prio` u8.
    SMA_TERM 0x41 3 [PTR, U8] Plain, V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x42: `ao` ptr, `sig` sig.
    SMA_GET 0x42 7 [PTR, SIG] Plain, V2_3;
    /// Code 0x42: `ao` ptr, `sig` sig, `pid` u8, `rc` u8.
    SMA_GET 0x42 7 [PTR, SIG, U8, U8] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// Code 0x42: `ao` ptr, `sig` sig, `pid` u8, `rc` u8, `nelem` nelem, `nmin` nelem?qlwm.
    SMA_GET 0x42 7 [PTR, SIG, U8, U8, NELEM, NELEM_QLWM] Plain, V3_4;
    /// Code 0x43: `ao` ptr, `sig` sig.
    SMA_FIFO 0x43 7 [PTR, SIG] Plain, V2_3;
    /// Code 0x43: `ao` ptr, `sig` sig, `snr` ptr?sender, `pid` u8, `rc` u8.
    SMA_FIFO 0x43 7 [PTR, SIG, PTR_SENDER, U8, U8] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// `ao` ptr, `sig` sig, `snr` ptr?sender, `pid` u8, `rc` u8, `nelem` nelem, `nmin` nelem?qlwm.
    SMA_FIFO 0x43 7 [PTR, SIG, PTR_SENDER, U8, U8, NELEM, NELEM_QLWM] Plain, V3_4;
    /// Code 0x44: `ao` ptr, `sig` sig.
    SMA_LIFO 0x44 7 [PTR, SIG] Plain, V2_3;
    /// Code 0x44: `ao` ptr, `sig` sig, `snr` ptr?sender, `pid` u8, `rc` u8.
    SMA_LIFO 0x44 7 [PTR, SIG, PTR_SENDER, U8, U8] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// `ao` ptr, `sig` sig, `snr` ptr?sender, `pid` u8, `rc` u8, `nelem` nelem, `nmin` nelem?qlwm.
    SMA_LIFO 0x44 7 [PTR, SIG, PTR_SENDER, U8, U8, NELEM, NELEM_QLWM] Plain, V3_4;
    /// Code 0x45: `ao` ptr, `prio` u8.
    SMA_REG 0x45 3 [PTR, U8] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x46: `ao` ptr, `prio` u8.
    SMA_UNREG 0x46 3 [PTR, U8] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x47: `ao` ptr, `sig` sig, `st` ptr.
    SMA_DCH 0x47 7 [PTR, SIG, PTR] Plain, V2_4_4 V2_4_5;
    /// Code 0x47: `q` ptr, `sig` sig.
    SMA_DEFER 0x47 1 [PTR, SIG] Plain, V3_4;
    /// Code 0x48: `ao` ptr, `sig` sig.
    SMA_RCALL 0x48 1 [PTR, SIG] Plain, V3_4;
    /// Code 0x60: `ao` ptr, `ist` ptr.
    SM_INIT 0x60 3 [PTR, PTR] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x61: `ao` ptr, `h` ptr.
    SM_CLRH 0x61 3 [PTR, PTR] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0x62: `ao` ptr, `sig` sig.
    SM_DCH 0x62 7 [PTR, SIG] Plain, V2_3 V2_4_3;
    /// Code 0x62: `ao` ptr, `sst` ptr, `tst` ptr.
    SM_TRN 0x62 3 [PTR, PTR, PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x63: `ao` ptr, `sst` ptr, `tst` ptr.
    SM_TRN 0x63 3 [PTR, PTR, PTR] Plain, V2_3 V2_4_3;
    /// Code 0x63: `ao` ptr, `st` ptr.
    SM_STATE 0x63 3 [PTR, PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x64: `ao` ptr, `st` ptr.
    SM_STATE 0x64 3 [PTR, PTR] Plain, V2_3 V2_4_3;
    /// Code 0x64: `ao` ptr, `st` ptr.
    SM_ENSTATE 0x64 3 [PTR, PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x65: `ao` ptr, `st` ptr.
    SM_ENSTATE 0x65 3 [PTR, PTR] Plain, V2_3 V2_4_3;
    /// Code 0x65: `ao` ptr, `st` ptr.
    SM_EXSTATE 0x65 3 [PTR, PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x66: `ao` ptr, `st` ptr.
    SM_EXSTATE 0x66 3 [PTR, PTR] Plain, V2_3 V2_4_3;
    /// Code 0x66: `ao` ptr, `nen` u8, `nex` u8.
    SM_NENEX 0x66 3 [PTR, U8, U8] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x67: `ao` ptr, `nen` u8, `nex` u8.
    SM_NENEX 0x67 3 [PTR, U8, U8] Plain, V2_3 V2_4_3;
    /// Code 0x67: `ao` ptr, `nta` u8, `nts` u8.
    SM_NTRNACT 0x67 3 [PTR, U8, U8] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x68: `ao` ptr, `nta` u8, `nts` u8.
    SM_NTRNACT 0x68 3 [PTR, U8, U8] Plain, V2_3 V2_4_3;
    /// Code 0x68: `ao` ptr, `st` ptr.
    SM_TS_STATE 0x68 3 [PTR, PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x69: `ao` ptr, `st` ptr.
    SM_CSTATE 0x69 3 [PTR, PTR] Plain, V2_3;
    /// Code 0x69: `ao` ptr, `st` ptr.
    SM_TS_STATE 0x69 3 [PTR, PTR] Plain, V2_4_3;
    /// Code 0x69: `ao` ptr.
    SM_EVT_PROC 0x69 3 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x6A: `ao` ptr.
    SM_EVT_PROC 0x6A 3 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x6A: `ao` ptr, `sig` sig.
    SM_EVT_NFOUND 0x6A 7 [PTR, SIG] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x6B: `ao` ptr.
    SM_EVT_NFOUND 0x6B 7 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x6B: `ao` ptr.
    SM_GRD_FALSE 0x6B 3 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x6C: `ao` ptr.
    SM_GRD_FALSE 0x6C 3 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x6C: `ao` ptr.
    SM_CND_NFOUND 0x6C 3 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x6D: `ao` ptr.
    SM_CND_NFOUND 0x6D 3 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x6D: `ao` ptr.
    SM_UNKN_STATE 0x6D 3 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x6E: `ao` ptr.
    SM_UNKN_STATE 0x6E 3 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x6E: `ao` ptr.
    SM_EX_HLEVEL 0x6E 3 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x6F: `ao` ptr.
    SM_EX_HLEVEL 0x6F 3 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x6F: `ao` ptr.
    SM_EX_TSEG 0x6F 3 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x70: `ao` ptr.
    SM_EX_TSEG 0x70 3 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x70: `type` u8, `ao` ptr, `st` ptr, `act` fptr.
    SM_EXE_ACT 0x70 3 [U8, PTR, PTR, FPTR] Plain, V2_4_5 V3_4;
    /// Code 0x71: `ao` ptr, `sig` sig, `st` ptr.
    SM_DCH 0x71 7 [PTR, SIG, PTR] Plain, V3_4;
    /// Code 0x80: `t` ptr, `sig` sig.
    TIM_INIT 0x80 1 [PTR, SIG] Plain, V2_3 V2_4_3;
    /// Code 0x80: `t` ptr, `sig` sig.
    TMR_INIT 0x80 1 [PTR, SIG] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x81: `t` ptr, `ao` ptr, `nt` ntick.
    TIM_START 0x81 1 [PTR, PTR, NTICK] Plain, V2_3;
    /// Code 0x81: `t` ptr, `ao` ptr, `nt` ntick, `per` ntick.
    TIM_START 0x81 1 [PTR, PTR, NTICK, NTICK] Plain, V2_4_3;
    /// Code 0x81: `t` ptr, `ao` ptr, `nt` ntick, `per` ntick.
    TMR_START 0x81 1 [PTR, PTR, NTICK, NTICK] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x82: `t` ptr.
    TIM_STOP 0x82 1 [PTR] Plain, V2_3;
    /// Code 0x82: `t` ptr, `nt` ntick, `per` ntick.
    TIM_STOP 0x82 1 [PTR, NTICK, NTICK] Plain, V2_4_3;
    /// Code 0x82: `t` ptr, `nt` ntick, `per` ntick.
    TMR_STOP 0x82 1 [PTR, NTICK, NTICK] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x83: `t` ptr.
    TIM_TOUT 0x83 7 [PTR] Plain, V2_3;
    /// Code 0x83: `t` ptr, `sig` sig, `ao` ptr.
    TIM_TOUT 0x83 7 [PTR, SIG, PTR] Plain, V2_4_3;
    /// Code 0x83: `t` ptr, `sig` sig, `ao` ptr.
    TMR_TOUT 0x83 7 [PTR, SIG, PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0x84: `t` ptr.
    TIM_REM 0x84 1 [PTR] Plain, V2_3 V2_4_3;
    /// Code 0x84: `t` ptr.
    TMR_REM 0x84 1 [PTR] Plain, V2_4_4 V2_4_5 V3_4;
    /// Code 0xA0: no arguments.
    FWK_EN 0xA0 1 [] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0xA1: no arguments.
    FWK_EX 0xA1 1 [] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0xA2: `ep` u8, `ss` u32, `es` esize.
    FWK_EPREG 0xA2 1 [U8, U32, ESIZE] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xA2: `ep` u8, `ss` u32, `es` esize, `ps` nblk.
    FWK_EPREG 0xA2 1 [U8, U32, ESIZE, NBLK] Plain, V3_4;
    /// Code 0xA3: `es` esize, `sig` sig.
    FWK_AE 0xA3 1 [ESIZE, SIG] Plain, V2_3;
    /// Code 0xA3: `es` esize, `sig` sig, `pid` u8, `rc` u8.
    FWK_AE 0xA3 1 [ESIZE, SIG, U8, U8] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// `es` esize, `sig` sig, `pid` u8, `rc` u8, `nused` nblk, `nmin` nblk?mplwm, `actor` ptr.
    FWK_AE 0xA3 1 [ESIZE, SIG, U8, U8, NBLK, NBLK_MPLWM, PTR] Plain, V3_4;
    /// Code 0xA4: `sig` sig.
    FWK_GC 0xA4 1 [SIG] Plain, V2_3;
    /// Code 0xA4: `sig` sig, `pid` u8, `rc` u8.
    FWK_GC 0xA4 1 [SIG, U8, U8] Plain, V2_4_3 V2_4_4 V2_4_5 V3_4;
    /// Code 0xA5: `sig` sig.
    FWK_GCR 0xA5 1 [SIG] Plain, V2_3;
    /// Code 0xA5: `sig` sig, `pid` u8, `rc` u8.
    FWK_GCR 0xA5 1 [SIG, U8, U8] Plain, V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xA5: `sig` sig, `pid` u8, `rc` u8, `nused` nblk, `nmin` nblk?mplwm, `actor` ptr.
    FWK_GCR 0xA5 1 [SIG, U8, U8, NBLK, NBLK_MPLWM, PTR] Plain, V3_4;
    /// Code 0xA6: `q` ptr, `sig` sig.
    FWK_DEFER 0xA6 1 [PTR, SIG] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xA6: `obj` ptr, `nm` strz.
    FWK_OBJ 0xA6 0 [PTR, STRZ] Names(Object), V3_4;
    /// Code 0xA7: `ao` ptr, `sig` sig.
    FWK_RCALL 0xA7 1 [PTR, SIG] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xA7: `sig` sig, `nm` strz.
    FWK_SIG 0xA7 0 [SIG, STRZ] Names(Signal), V3_4;
    /// Code 0xA8: `obj` ptr, `nm` strz.
    FWK_OBJ 0xA8 0 [PTR, STRZ] Names(Object), V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xA8: `fn` ptr, `nm` strz.
    FWK_FUN 0xA8 0 [PTR, STRZ] Names(Function), V3_4;
    /// Code 0xA9: `sig` sig, `nm` strz.
    FWK_SIG 0xA9 0 [SIG, STRZ] Names(Signal), V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xA9: `fn` fptr.
    FWK_EXE_FUN 0xA9 0 [FPTR] Plain, V3_4;
    /// Code 0xAA: `fn` fptr, `nm` strz.
    FWK_FUN 0xAA 0 [FPTR, STRZ] Names(Function), V2_3 V2_4_3;
    /// Code 0xAA: `fn` ptr, `nm` strz.
    FWK_FUN 0xAA 0 [PTR, STRZ] Names(Function), V2_4_4 V2_4_5;
    /// Code 0xAA: `fn` fptr, `snr` ptr?sender, `ao` ptr?sender.
    FWK_SYNC_EVT 0xAA 0 [FPTR, PTR_SENDER, PTR_SENDER] Plain, V3_4;
    /// Code 0xAB: `fn` fptr.
    FWK_EXE_FUN 0xAB 0 [FPTR] Plain, V2_3 V2_4_3 V2_4_4 V2_4_5;
    /// Code 0xAB: `ut` teid, `nm` strz.
    FWK_TUSR 0xAB 0 [TEID, STRZ] Names(UserEvent), V3_4;
    /// Code 0xAC: `ut` u8, `nm` strz.
    FWK_TUSR 0xAC 0 [U8, STRZ] Names(UserEvent), V2_3 V2_4_3 V2_4_4;
    /// Code 0xAC: `fn` fptr, `snr` ptr?sender, `ao` ptr?sender.
    FWK_SYNC_EVT 0xAC 0 [FPTR, PTR_SENDER, PTR_SENDER] Plain, V2_4_5;
    /// Code 0xAC: the target's settings, [`Configuration`](crate::rkh::Configuration).
    FWK_TCFG 0xAC 0 [U16, U32, HI4, LO4, HI4, LO4, HI4, LO4, LO4, HI4, LO4, U16]
        Configuration, V3_4;
    /// Code 0xAD: the target's settings, [`Configuration`](crate::rkh::Configuration).
    FWK_TCFG 0xAD 0 [HI4, LO4, HI4, LO4, HI4, LO4, HI4, LO4, HI4, LO4] Configuration, V2_3;
    /// Code 0xAD: the target's settings, [`Configuration`](crate::rkh::Configuration).
    FWK_TCFG 0xAD 0 [U16, U16, HI4, LO4, HI4, LO4, HI4, LO4, HI4, LO4, HI4, LO4, HI4, LO4]
        Configuration, V2_4_3;
    /// Code 0xAD: the target's settings, [`Configuration`](crate::rkh::Configuration).
    FWK_TCFG 0xAD 0 [U16, U32, HI4, LO4, HI4, LO4, HI4, LO4, LO4, HI4, LO4, U16]
        Configuration, V2_4_4;
    /// Code 0xAD: `ut` teid, `nm` strz.
    FWK_TUSR 0xAD 0 [TEID, STRZ] Names(UserEvent), V2_4_5;
    /// Code 0xAD: `mod` strz, `line` u16.
    FWK_ASSERT 0xAD 1 [STRZ, U16] Assertion, V3_4;
    /// Code 0xAE: `mod` strz, `line` u16.
    FWK_ASSERT 0xAE 1 [STRZ, U16] Assertion, V2_3 V2_4_3 V2_4_4;
    /// Code 0xAE: the target's settings, [`Configuration`](crate::rkh::Configuration).
    FWK_TCFG 0xAE 0 [U16, U32, HI4, LO4, HI4, LO4, HI4, LO4, LO4, HI4, LO4, U16]
        Configuration, V2_4_5;
    /// Code 0xAE: `obj` ptr, `nm` strz.
    FWK_AO 0xAE 0 [PTR, STRZ] Names(ActiveObject), V3_4;
    /// Code 0xAF: `obj` ptr, `nm` strz.
    FWK_AO 0xAF 0 [PTR, STRZ] Names(ActiveObject), V2_4_3 V2_4_4;
    /// Code 0xAF: `mod` strz, `line` u16.
    FWK_ASSERT 0xAF 1 [STRZ, U16] Assertion, V2_4_5;
    /// Code 0xAF: `ao` ptr, `obj` ptr, `nm` strz.
    FWK_STATE 0xAF 0 [PTR, PTR, STRZ] Names(State), V3_4;
    /// Code 0xB0: `ao` ptr, `obj` ptr, `nm` strz.
    FWK_STATE 0xB0 0 [PTR, PTR, STRZ] Names(State), V2_4_3 V2_4_4;
    /// Code 0xB0: `obj` ptr, `nm` strz.
    FWK_AO 0xB0 0 [PTR, STRZ] Names(ActiveObject), V2_4_5;
    /// Code 0xB0: `ao` ptr, `obj` ptr, `nm` strz.
    FWK_PSTATE 0xB0 0 [PTR, PTR, STRZ] Names(Pseudostate), V3_4;
    /// Code 0xB1: `ao` ptr, `obj` ptr, `nm` strz.
    FWK_PSTATE 0xB1 0 [PTR, PTR, STRZ] Names(Pseudostate), V2_4_3 V2_4_4;
    /// Code 0xB1: `ao` ptr, `obj` ptr, `nm` strz.
    FWK_STATE 0xB1 0 [PTR, PTR, STRZ] Names(State), V2_4_5;
    /// Code 0xB1: `obj` ptr, `nm` strz.
    FWK_TIMER 0xB1 0 [PTR, STRZ] Names(Timer), V3_4;
    /// Code 0xB2: `obj` ptr, `nm` strz.
    FWK_TIMER 0xB2 0 [PTR, STRZ] Names(Timer), V2_4_3 V2_4_4;
    /// Code 0xB2: `ao` ptr, `obj` ptr, `nm` strz.
    FWK_PSTATE 0xB2 0 [PTR, PTR, STRZ] Names(Pseudostate), V2_4_5;
    /// Code 0xB2: `ep` u8, `nm` strz.
    FWK_EPOOL 0xB2 0 [U8, STRZ] Names(EventPool), V3_4;
    /// Code 0xB3: `obj` ptr, `nm` strz.
    FWK_EPOOL 0xB3 0 [PTR, STRZ] Names(EventPool), V2_4_3 V2_4_4;
    /// Code 0xB3: `obj` ptr, `nm` strz.
    FWK_TIMER 0xB3 0 [PTR, STRZ] Names(Timer), V2_4_5;
    /// Code 0xB3: `obj` ptr, `nm` strz.
    FWK_QUEUE 0xB3 0 [PTR, STRZ] Names(Queue), V3_4;
    /// Code 0xB4: `obj` ptr, `nm` strz.
    FWK_QUEUE 0xB4 0 [PTR, STRZ] Names(Queue), V2_4_3 V2_4_4;
    /// Code 0xB4: `obj` ptr, `nm` strz.
    FWK_EPOOL 0xB4 0 [PTR, STRZ] Names(EventPool), V2_4_5;
    /// Code 0xB4: `obj` ptr, `nm` strz.
    FWK_ACTOR 0xB4 0 [PTR, STRZ] Names(Actor), V3_4;
    /// Code 0xB5: `obj` ptr, `nm` strz.
    FWK_QUEUE 0xB5 0 [PTR, STRZ] Names(Queue), V2_4_5;
    /// Code 0xE0: `line` u32.
    UT_INIT 0xE0 0 [U32] Plain, V2_4_5 V3_4;
    /// Code 0xE1: `line` u32.
    UT_CLEANUP 0xE1 0 [U32] Plain, V2_4_5 V3_4;
    /// Code 0xE2: `line` u32.
    UT_VERIFY 0xE2 0 [U32] Plain, V2_4_5 V3_4;
    /// Code 0xE3: `line` u32, `grp` u8.
    UT_IGNORE_GROUP 0xE3 0 [U32, U8] Plain, V2_4_5 V3_4;
    /// Code 0xE4: `line` u32, `evt` u8, `expected` rest.
    UT_EXPECT 0xE4 0 [U32, U8, REST] Plain, V2_4_5 V3_4;
    /// Code 0xE5: `line` u32, `evt` teid.
    UT_EXPECT_ANYARGS 0xE5 0 [U32, TEID] Plain, V2_4_5 V3_4;
    /// Code 0xE6: `line` u32, `evt` teid.
    UT_IGNORE 0xE6 0 [U32, TEID] Plain, V2_4_5 V3_4;
    /// Code 0xE7: `line` u32, `evt` teid, `argix` u8.
    UT_IGNORE_ARG 0xE7 0 [U32, TEID, U8] Plain, V2_4_5 V3_4;
    /// Code 0xE8: `line` u32, `msg` strz.
    UT_SUCCESS 0xE8 0 [U32, STRZ] Plain, V2_4_5 V3_4;
    /// Code 0xE9: `line` u32, `msg` strz.
    UT_FAIL 0xE9 0 [U32, STRZ] Plain, V2_4_5 V3_4;
}
