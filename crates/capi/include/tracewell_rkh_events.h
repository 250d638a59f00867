/* The events of RKH for tracewell_rkh.h, generated from crates/wire/src/rkh/events by crates/capi/tests: do not edit.
 *
 * TW_RKH_DIALECT selects the dialect; the default is TW_RKH_3_4. The comment of each event lists its arguments
 * in order. Pass all of them, including those in brackets, which depend on the settings. */

#ifndef TRACEWELL_RKH_EVENTS_H
#define TRACEWELL_RKH_EVENTS_H

#include "tracewell.h"

#ifndef TW_RKH_DIALECT
#define TW_RKH_DIALECT TW_RKH_3_4
#endif

#if TW_RKH_DIALECT == TW_RKH_2_0_PRE
#define TW_TE_SM_NTRNACT 0x19 /* SYM U8 */
#endif

#if TW_RKH_DIALECT <= TW_RKH_2_2
#define TW_TE_RQ_INIT 0x03 /* SYM SYM NE */
#define TW_TE_RQ_GET 0x04 /* SYM NE */
#define TW_TE_RQ_FIFO 0x05 /* SYM NE */
#define TW_TE_RQ_LIFO 0x06 /* SYM NE */
#define TW_TE_RQ_FULL 0x07 /* SYM */
#define TW_TE_RQ_DPT 0x08 /* SYM */
#define TW_TE_RQ_GET_LAST 0x09 /* SYM */
#define TW_TE_SMA_ACT 0x0A /* SYM */
#define TW_TE_SMA_TERM 0x0B /* SYM */
#define TW_TE_SMA_GET 0x0C /* SYM SIG */
#define TW_TE_SMA_FIFO 0x0D /* SYM SIG */
#define TW_TE_SMA_LIFO 0x0E /* SYM SIG */
#define TW_TE_SMA_REG 0x0F /* SYM U8 */
#define TW_TE_SMA_UNREG 0x10 /* SYM U8 */
#define TW_TE_SM_INIT 0x11 /* SYM SYM */
#define TW_TE_SM_CLRH 0x12 /* SYM SYM */
#define TW_TE_SM_DCH 0x13 /* SYM SIG */
#define TW_TE_SM_TRN 0x14 /* SYM SYM SYM */
#define TW_TE_SM_STATE 0x15 /* SYM SYM */
#define TW_TE_SM_ENSTATE 0x16 /* SYM SYM */
#define TW_TE_SM_EXSTATE 0x17 /* SYM SYM */
#define TW_TE_SM_NENEX 0x18 /* SYM U8 U8 */
#define TW_TE_SM_CSTATE 0x1A /* SYM SYM */
#define TW_TE_SM_DCH_RC 0x1B /* SYM U8 */
#define TW_TE_TIM_INIT 0x1C /* SYM SIG */
#define TW_TE_TIM_START 0x1D /* SYM SYM NTICK */
#define TW_TE_TIM_RESTART 0x1E /* SYM NTICK */
#define TW_TE_TIM_STOP 0x1F /* SYM */
#define TW_TE_TIM_TOUT 0x20 /* SYM */
#define TW_TE_TIM_REM 0x21 /* SYM */
#define TW_TE_TIM_ATTEMPT_STOP 0x22 /* SYM */
#define TW_TE_RKH_EN 0x23 /* nothing */
#define TW_TE_RKH_EX 0x24 /* nothing */
#define TW_TE_RKH_EPREG 0x25 /* U8 U32 ES */
#define TW_TE_RKH_AE 0x26 /* ES SIG */
#define TW_TE_RKH_GC 0x27 /* SIG */
#define TW_TE_RKH_GCR 0x28 /* SIG */
#define TW_TE_RKH_DEFER 0x29 /* SYM SIG */
#define TW_TE_RKH_RCALL 0x2A /* SYM SIG */
#define TW_TE_OBJ 0x2B /* SYM STR */
#define TW_TE_SIG 0x2C /* SIG STR */
#define TW_TG_RKH 5
#endif

#if TW_RKH_DIALECT <= TW_RKH_2_3
#define TW_TE_MP_INIT 0x00 /* SYM NBLK */
#define TW_TE_MP_GET 0x01 /* SYM NBLK */
#endif

#if TW_RKH_DIALECT <= TW_RKH_2_4_3
#define TW_TG_TIM 4
#endif

#if TW_RKH_DIALECT <= TW_RKH_2_4_5
#define TW_TG_RQ 1
#endif

#define TW_TE_MP_PUT 0x02 /* SYM NBLK */
#define TW_TG_MP 0
#define TW_TG_SMA 2
#define TW_TG_SM 3
#define TW_TG_USR 6

#if TW_RKH_DIALECT >= TW_RKH_2_0 && TW_RKH_DIALECT <= TW_RKH_2_2
#define TW_TE_SM_NTRNACT 0x19 /* SYM U8 U8 */
#endif

#if TW_RKH_DIALECT == TW_RKH_2_2
#define TW_TE_FUN 0x2D /* FUN STR */
#define TW_TE_EXE_FUN 0x2E /* FUN */
#endif

#if TW_RKH_DIALECT == TW_RKH_2_3
#define TW_TE_RQ_FIFO 0x22 /* SYM NE */
#define TW_TE_RQ_LIFO 0x23 /* SYM NE */
#define TW_TE_SMA_ACT 0x40 /* SYM */
#define TW_TE_SMA_TERM 0x41 /* SYM */
#define TW_TE_SMA_GET 0x42 /* SYM SIG */
#define TW_TE_SMA_FIFO 0x43 /* SYM SIG */
#define TW_TE_SMA_LIFO 0x44 /* SYM SIG */
#define TW_TE_SM_CSTATE 0x69 /* SYM SYM */
#define TW_TE_TIM_START 0x81 /* SYM SYM NTICK */
#define TW_TE_TIM_STOP 0x82 /* SYM */
#define TW_TE_TIM_TOUT 0x83 /* SYM */
#define TW_TE_FWK_AE 0xA3 /* ES SIG */
#define TW_TE_FWK_GC 0xA4 /* SIG */
#define TW_TE_FWK_GCR 0xA5 /* SIG */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_3 && TW_RKH_DIALECT <= TW_RKH_2_4_3
#define TW_TE_SM_DCH 0x62 /* SYM SIG */
#define TW_TE_SM_TRN 0x63 /* SYM SYM SYM */
#define TW_TE_SM_STATE 0x64 /* SYM SYM */
#define TW_TE_SM_ENSTATE 0x65 /* SYM SYM */
#define TW_TE_SM_EXSTATE 0x66 /* SYM SYM */
#define TW_TE_SM_NENEX 0x67 /* SYM U8 U8 */
#define TW_TE_SM_NTRNACT 0x68 /* SYM U8 U8 */
#define TW_TE_SM_EVT_PROC 0x6A /* SYM */
#define TW_TE_SM_EVT_NFOUND 0x6B /* SYM */
#define TW_TE_SM_GRD_FALSE 0x6C /* SYM */
#define TW_TE_SM_CND_NFOUND 0x6D /* SYM */
#define TW_TE_SM_UNKN_STATE 0x6E /* SYM */
#define TW_TE_SM_EX_HLEVEL 0x6F /* SYM */
#define TW_TE_SM_EX_TSEG 0x70 /* SYM */
#define TW_TE_TIM_INIT 0x80 /* SYM SIG */
#define TW_TE_TIM_REM 0x84 /* SYM */
#define TW_TE_FWK_FUN 0xAA /* FUN STR */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_3 && TW_RKH_DIALECT <= TW_RKH_2_4_4
#define TW_TE_FWK_TUSR 0xAC /* U8 STR */
#define TW_TE_FWK_TCFG 0xAD /* tw_rkh_configuration */
#define TW_TE_FWK_ASSERT 0xAE /* STR U16 */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_3 && TW_RKH_DIALECT <= TW_RKH_2_4_5
#define TW_TE_RQ_INIT 0x20 /* SYM SYM NE */
#define TW_TE_RQ_GET 0x21 /* SYM NE */
#define TW_TE_RQ_FULL 0x24 /* SYM */
#define TW_TE_RQ_DPT 0x25 /* SYM */
#define TW_TE_RQ_GET_LAST 0x26 /* SYM */
#define TW_TE_FWK_EPREG 0xA2 /* U8 U32 ES */
#define TW_TE_FWK_DEFER 0xA6 /* SYM SIG */
#define TW_TE_FWK_RCALL 0xA7 /* SYM SIG */
#define TW_TE_FWK_OBJ 0xA8 /* SYM STR */
#define TW_TE_FWK_SIG 0xA9 /* SIG STR */
#define TW_TE_FWK_EXE_FUN 0xAB /* FUN */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_3
#define TW_TE_SMA_REG 0x45 /* SYM U8 */
#define TW_TE_SMA_UNREG 0x46 /* SYM U8 */
#define TW_TE_SM_INIT 0x60 /* SYM SYM */
#define TW_TE_SM_CLRH 0x61 /* SYM SYM */
#define TW_TE_FWK_EN 0xA0 /* nothing */
#define TW_TE_FWK_EX 0xA1 /* nothing */
#define TW_TG_FWK 5
#endif

#if TW_RKH_DIALECT == TW_RKH_2_4_3
#define TW_TE_SM_TS_STATE 0x69 /* SYM SYM */
#define TW_TE_TIM_START 0x81 /* SYM SYM NTICK NTICK */
#define TW_TE_TIM_STOP 0x82 /* SYM NTICK NTICK */
#define TW_TE_TIM_TOUT 0x83 /* SYM SIG SYM */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_4_3 && TW_RKH_DIALECT <= TW_RKH_2_4_4
#define TW_TE_FWK_AO 0xAF /* SYM STR */
#define TW_TE_FWK_STATE 0xB0 /* SYM SYM STR */
#define TW_TE_FWK_PSTATE 0xB1 /* SYM SYM STR */
#define TW_TE_FWK_TIMER 0xB2 /* SYM STR */
#define TW_TE_FWK_EPOOL 0xB3 /* SYM STR */
#define TW_TE_FWK_QUEUE 0xB4 /* SYM STR */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_4_3 && TW_RKH_DIALECT <= TW_RKH_2_4_5
#define TW_TE_RQ_FIFO 0x22 /* SYM NE [NE] */
#define TW_TE_RQ_LIFO 0x23 /* SYM NE [NE] */
#define TW_TE_SMA_ACT 0x40 /* SYM U8 */
#define TW_TE_SMA_GET 0x42 /* SYM SIG U8 U8 */
#define TW_TE_SMA_FIFO 0x43 /* SYM SIG [SYM] U8 U8 */
#define TW_TE_SMA_LIFO 0x44 /* SYM SIG [SYM] U8 U8 */
#define TW_TE_FWK_AE 0xA3 /* ES SIG U8 U8 */
#define TW_TE_FWK_GCR 0xA5 /* SIG U8 U8 */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_4_3
#define TW_TE_MP_INIT 0x00 /* SYM NBLK BSIZE */
#define TW_TE_MP_GET 0x01 /* SYM NBLK [NBLK] */
#define TW_TE_SMA_TERM 0x41 /* SYM U8 */
#define TW_TE_FWK_GC 0xA4 /* SIG U8 U8 */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_4_4 && TW_RKH_DIALECT <= TW_RKH_2_4_5
#define TW_TE_SMA_DCH 0x47 /* SYM SIG SYM */
#define TW_TE_FWK_FUN 0xAA /* SYM STR */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_4_4
#define TW_TE_SM_TRN 0x62 /* SYM SYM SYM */
#define TW_TE_SM_STATE 0x63 /* SYM SYM */
#define TW_TE_SM_ENSTATE 0x64 /* SYM SYM */
#define TW_TE_SM_EXSTATE 0x65 /* SYM SYM */
#define TW_TE_SM_NENEX 0x66 /* SYM U8 U8 */
#define TW_TE_SM_NTRNACT 0x67 /* SYM U8 U8 */
#define TW_TE_SM_TS_STATE 0x68 /* SYM SYM */
#define TW_TE_SM_EVT_PROC 0x69 /* SYM */
#define TW_TE_SM_EVT_NFOUND 0x6A /* SYM SIG */
#define TW_TE_SM_GRD_FALSE 0x6B /* SYM */
#define TW_TE_SM_CND_NFOUND 0x6C /* SYM */
#define TW_TE_SM_UNKN_STATE 0x6D /* SYM */
#define TW_TE_SM_EX_HLEVEL 0x6E /* SYM */
#define TW_TE_SM_EX_TSEG 0x6F /* SYM */
#define TW_TE_TMR_INIT 0x80 /* SYM SIG */
#define TW_TE_TMR_START 0x81 /* SYM SYM NTICK NTICK */
#define TW_TE_TMR_STOP 0x82 /* SYM NTICK NTICK */
#define TW_TE_TMR_TOUT 0x83 /* SYM SIG SYM */
#define TW_TE_TMR_REM 0x84 /* SYM */
#define TW_TG_TMR 4
#endif

#if TW_RKH_DIALECT == TW_RKH_2_4_5
#define TW_TE_FWK_SYNC_EVT 0xAC /* FUN [SYM] [SYM] */
#define TW_TE_FWK_TUSR 0xAD /* ID STR */
#define TW_TE_FWK_TCFG 0xAE /* tw_rkh_configuration */
#define TW_TE_FWK_ASSERT 0xAF /* STR U16 */
#define TW_TE_FWK_AO 0xB0 /* SYM STR */
#define TW_TE_FWK_STATE 0xB1 /* SYM SYM STR */
#define TW_TE_FWK_PSTATE 0xB2 /* SYM SYM STR */
#define TW_TE_FWK_TIMER 0xB3 /* SYM STR */
#define TW_TE_FWK_EPOOL 0xB4 /* SYM STR */
#define TW_TE_FWK_QUEUE 0xB5 /* SYM STR */
#endif

#if TW_RKH_DIALECT >= TW_RKH_2_4_5
#define TW_TE_SM_EXE_ACT 0x70 /* U8 SYM SYM FUN */
#define TW_TE_UT_INIT 0xE0 /* U32 */
#define TW_TE_UT_CLEANUP 0xE1 /* U32 */
#define TW_TE_UT_VERIFY 0xE2 /* U32 */
#define TW_TE_UT_IGNORE_GROUP 0xE3 /* U32 U8 */
#define TW_TE_UT_EXPECT 0xE4 /* U32 U8 bytes */
#define TW_TE_UT_EXPECT_ANYARGS 0xE5 /* U32 ID */
#define TW_TE_UT_IGNORE 0xE6 /* U32 ID */
#define TW_TE_UT_IGNORE_ARG 0xE7 /* U32 ID U8 */
#define TW_TE_UT_SUCCESS 0xE8 /* U32 STR */
#define TW_TE_UT_FAIL 0xE9 /* U32 STR */
#define TW_TG_UT 7
#endif

#if TW_RKH_DIALECT == TW_RKH_3_4
#define TW_TE_QUE_INIT 0x20 /* SYM SYM NE */
#define TW_TE_QUE_GET 0x21 /* SYM NE */
#define TW_TE_QUE_FIFO 0x22 /* SYM NE [NE] */
#define TW_TE_QUE_LIFO 0x23 /* SYM NE [NE] */
#define TW_TE_QUE_FULL 0x24 /* SYM */
#define TW_TE_QUE_DPT 0x25 /* SYM */
#define TW_TE_QUE_GET_LAST 0x26 /* SYM */
#define TW_TE_SMA_ACT 0x40 /* SYM U8 U8 */
#define TW_TE_SMA_GET 0x42 /* SYM SIG U8 U8 NE [NE] */
#define TW_TE_SMA_FIFO 0x43 /* SYM SIG [SYM] U8 U8 NE [NE] */
#define TW_TE_SMA_LIFO 0x44 /* SYM SIG [SYM] U8 U8 NE [NE] */
#define TW_TE_SMA_DEFER 0x47 /* SYM SIG */
#define TW_TE_SMA_RCALL 0x48 /* SYM SIG */
#define TW_TE_SM_DCH 0x71 /* SYM SIG SYM */
#define TW_TE_FWK_EPREG 0xA2 /* U8 U32 ES NBLK */
#define TW_TE_FWK_AE 0xA3 /* ES SIG U8 U8 NBLK [NBLK] SYM */
#define TW_TE_FWK_GCR 0xA5 /* SIG U8 U8 NBLK [NBLK] SYM */
#define TW_TE_FWK_OBJ 0xA6 /* SYM STR */
#define TW_TE_FWK_SIG 0xA7 /* SIG STR */
#define TW_TE_FWK_FUN 0xA8 /* SYM STR */
#define TW_TE_FWK_EXE_FUN 0xA9 /* FUN */
#define TW_TE_FWK_SYNC_EVT 0xAA /* FUN [SYM] [SYM] */
#define TW_TE_FWK_TUSR 0xAB /* ID STR */
#define TW_TE_FWK_TCFG 0xAC /* tw_rkh_configuration */
#define TW_TE_FWK_ASSERT 0xAD /* STR U16 */
#define TW_TE_FWK_AO 0xAE /* SYM STR */
#define TW_TE_FWK_STATE 0xAF /* SYM SYM STR */
#define TW_TE_FWK_PSTATE 0xB0 /* SYM SYM STR */
#define TW_TE_FWK_TIMER 0xB1 /* SYM STR */
#define TW_TE_FWK_EPOOL 0xB2 /* U8 STR */
#define TW_TE_FWK_QUEUE 0xB3 /* SYM STR */
#define TW_TE_FWK_ACTOR 0xB4 /* SYM STR */
#define TW_TG_QUE 1
#endif

#endif
