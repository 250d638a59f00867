/* Macros for programs that record like RKH. Their form and the order of their arguments are those of the
 * framework's macros. Define the following before you include this header:
 *
 *   TW_RKH_TRACE             a pointer to the tw_rkh of the program
 *   TW_RKH_ENTER_CRITICAL()  enters the critical section of a record; by default empty (for one thread)
 *   TW_RKH_EXIT_CRITICAL()   leaves the critical section; by default empty
 *   TW_RKH_FLUSH()           sends the bytes of tw_rkh_get_block; by default empty
 *   TW_RKH_DIALECT           the dialect; by default TW_RKH_3_4
 *
 * If a filter suppresses a record, its arguments are not evaluated and only the test costs time. For example:
 *
 *   TW_TRC_BEGIN_AO(TW_TE_SM_TRN, priority)
 *       TW_TRC_SYM(me);
 *       TW_TRC_SYM(source);
 *       TW_TRC_SYM(target);
 *   TW_TRC_END();
 */
#ifndef TRACEWELL_RKH_H
#define TRACEWELL_RKH_H

#include "tracewell.h"
#include "tracewell_rkh_events.h"

#ifndef TW_RKH_TRACE
#error "define TW_RKH_TRACE, a pointer to the tw_rkh of the program"
#endif
#ifndef TW_RKH_ENTER_CRITICAL
#define TW_RKH_ENTER_CRITICAL() ((void)0)
#define TW_RKH_EXIT_CRITICAL() ((void)0)
#endif
#ifndef TW_RKH_FLUSH
#define TW_RKH_FLUSH() ((void)0)
#endif

/* Records contain only the low 32 bits of an address. */
#define TW_RKH_ADDRESS(a_) ((uint32_t)(uintptr_t)(a_))

/* ---- a record: begin, arguments in the order of the event, end ---- */

#define TW_TRC_BEGIN_ABOUT(te_, prio_, sig_)                                                           \
    do {                                                                                               \
        TW_RKH_ENTER_CRITICAL();                                                                       \
        if (tw_rkh_begin(TW_RKH_TRACE, (te_), (prio_), (sig_)) == TW_OK) {
/* Begin a record. With _AO, the filters get the priority of an active object, and with _AO_SIG also a signal. */
#define TW_TRC_BEGIN(te_) TW_TRC_BEGIN_ABOUT(te_, TW_RKH_NO_OBJECT, TW_RKH_NO_SIGNAL)
#define TW_TRC_BEGIN_AO(te_, prio_) TW_TRC_BEGIN_ABOUT(te_, prio_, TW_RKH_NO_SIGNAL)
#define TW_TRC_BEGIN_AO_SIG(te_, prio_, sig_) TW_TRC_BEGIN_ABOUT(te_, prio_, sig_)
#define TW_TRC_END()                                                                                   \
            (void)tw_rkh_end(TW_RKH_TRACE);                                                            \
        }                                                                                              \
        TW_RKH_EXIT_CRITICAL();                                                                        \
    } while (0)

/* The event determines the width of an argument. The name of a macro only documents the argument's meaning. */
#define TW_TRC_NUM(v_) ((void)tw_rkh_arg(TW_RKH_TRACE, (uint32_t)(v_)))
#define TW_TRC_U8(v_) TW_TRC_NUM(v_)
#define TW_TRC_U16(v_) TW_TRC_NUM(v_)
#define TW_TRC_U32(v_) TW_TRC_NUM(v_)
#define TW_TRC_SIG(v_) TW_TRC_NUM(v_)
#define TW_TRC_ES(v_) TW_TRC_NUM(v_)
#define TW_TRC_NBLK(v_) TW_TRC_NUM(v_)
#define TW_TRC_BSIZE(v_) TW_TRC_NUM(v_)
#define TW_TRC_NE(v_) TW_TRC_NUM(v_)
#define TW_TRC_NTICK(v_) TW_TRC_NUM(v_)
#define TW_TRC_ID(v_) TW_TRC_NUM(v_)
#define TW_TRC_SYM(a_) TW_TRC_NUM(TW_RKH_ADDRESS(a_))
#define TW_TRC_FUN(f_) TW_TRC_NUM(TW_RKH_ADDRESS(f_))
#define TW_TRC_STR(s_) ((void)tw_rkh_text(TW_RKH_TRACE, (s_)))

/* ---- user events: begin with a number from 0 to 31, items with their printed width, end ---- */

#define TW_TRC_USR_BEGIN(number_)                                                                      \
    do {                                                                                               \
        TW_RKH_ENTER_CRITICAL();                                                                       \
        if (tw_rkh_begin_user(TW_RKH_TRACE, (number_)) == TW_OK) {
#define TW_TRC_USR_END() TW_TRC_END()

#define TW_TUSR_ITEM(type_, width_, v_) \
    ((void)tw_rkh_item(TW_RKH_TRACE, (type_), (width_), (uint32_t)(v_)))
#define TW_TUSR_I8(width_, v_) TW_TUSR_ITEM(TW_RKH_I8, width_, v_)
#define TW_TUSR_UI8(width_, v_) TW_TUSR_ITEM(TW_RKH_UI8, width_, v_)
#define TW_TUSR_I16(width_, v_) TW_TUSR_ITEM(TW_RKH_I16, width_, v_)
#define TW_TUSR_UI16(width_, v_) TW_TUSR_ITEM(TW_RKH_UI16, width_, v_)
#define TW_TUSR_I32(width_, v_) TW_TUSR_ITEM(TW_RKH_I32, width_, v_)
#define TW_TUSR_UI32(width_, v_) TW_TUSR_ITEM(TW_RKH_UI32, width_, v_)
#define TW_TUSR_X32(width_, v_) TW_TUSR_ITEM(TW_RKH_X32, width_, v_)
#define TW_TUSR_STR(s_) ((void)tw_rkh_item_text(TW_RKH_TRACE, (s_)))
#define TW_TUSR_MEM(mem_, size_) ((void)tw_rkh_item_memory(TW_RKH_TRACE, (mem_), (size_)))
#define TW_TUSR_OBJ(a_) TW_TUSR_ITEM(TW_RKH_OBJ, 0, TW_RKH_ADDRESS(a_))
#define TW_TUSR_FUN(f_) TW_TUSR_ITEM(TW_RKH_FUN, 0, TW_RKH_ADDRESS(f_))
#define TW_TUSR_SIG(s_) TW_TUSR_ITEM(TW_RKH_SIG, 0, s_)

/* ---- symbols: names of addresses and numbers; each is sent immediately ---- */

#define TW_TR_SYMBOL(kind_, owner_, key_, name_)                                                       \
    do {                                                                                               \
        TW_RKH_ENTER_CRITICAL();                                                                       \
        (void)tw_rkh_symbol(TW_RKH_TRACE, (kind_), (owner_), (key_), (name_));                         \
        TW_RKH_EXIT_CRITICAL();                                                                        \
        TW_RKH_FLUSH();                                                                                \
    } while (0)
/* The name is the source text of the argument. */
#define TW_TR_FWK_OBJ(o_) TW_TR_SYMBOL(TW_RKH_OBJECT, 0, TW_RKH_ADDRESS(o_), #o_)
#define TW_TR_FWK_QUEUE(q_) TW_TR_SYMBOL(TW_RKH_QUEUE, 0, TW_RKH_ADDRESS(q_), #q_)
#define TW_TR_FWK_TIMER(t_) TW_TR_SYMBOL(TW_RKH_TIMER, 0, TW_RKH_ADDRESS(t_), #t_)
#define TW_TR_FWK_FUN(f_) TW_TR_SYMBOL(TW_RKH_FUNCTION, 0, TW_RKH_ADDRESS(f_), #f_)
#define TW_TR_FWK_SIG(s_) TW_TR_SYMBOL(TW_RKH_SIGNAL, 0, (uint32_t)(s_), #s_)
#define TW_TR_FWK_TUSR(number_) TW_TR_SYMBOL(TW_RKH_USER_EVENT, 0, (uint32_t)(number_), #number_)
/* The name is an argument. */
#define TW_TR_FWK_AO(ao_, name_) TW_TR_SYMBOL(TW_RKH_ACTIVE_OBJECT, 0, TW_RKH_ADDRESS(ao_), name_)
#define TW_TR_FWK_ACTOR(a_, name_) TW_TR_SYMBOL(TW_RKH_ACTOR, 0, TW_RKH_ADDRESS(a_), name_)
#define TW_TR_FWK_STATE(ao_, st_, name_) \
    TW_TR_SYMBOL(TW_RKH_STATE, TW_RKH_ADDRESS(ao_), TW_RKH_ADDRESS(st_), name_)
#define TW_TR_FWK_PSTATE(ao_, st_, name_) \
    TW_TR_SYMBOL(TW_RKH_PSEUDOSTATE, TW_RKH_ADDRESS(ao_), TW_RKH_ADDRESS(st_), name_)
#define TW_TR_FWK_EPOOL(pool_, name_) TW_TR_SYMBOL(TW_RKH_EVENT_POOL, 0, (uint32_t)(pool_), name_)

/* ---- configuration and assertions; each is sent immediately, as the program may stop after an assertion ---- */

#define TW_TR_FWK_TCFG()                                                                               \
    do {                                                                                               \
        TW_RKH_ENTER_CRITICAL();                                                                       \
        (void)tw_rkh_configuration(TW_RKH_TRACE);                                                      \
        TW_RKH_EXIT_CRITICAL();                                                                        \
        TW_RKH_FLUSH();                                                                                \
    } while (0)
#define TW_TR_FWK_ASSERT(module_, line_)                                                               \
    do {                                                                                               \
        (void)tw_rkh_assertion(TW_RKH_TRACE, (module_), (uint16_t)(line_));                            \
        TW_RKH_FLUSH();                                                                                \
    } while (0)

/* ---- filters: ON suppresses records, OFF lets them pass ---- */

#define TW_FILTER_ON_GROUP(g_) ((void)tw_rkh_filter_group(TW_RKH_TRACE, (g_), TW_RKH_FILTER_ON))
#define TW_FILTER_OFF_GROUP(g_) ((void)tw_rkh_filter_group(TW_RKH_TRACE, (g_), TW_RKH_FILTER_OFF))
#define TW_FILTER_ON_GROUP_ALL_EVENTS(g_) \
    ((void)tw_rkh_filter_group_all_events(TW_RKH_TRACE, (g_), TW_RKH_FILTER_ON))
#define TW_FILTER_OFF_GROUP_ALL_EVENTS(g_) \
    ((void)tw_rkh_filter_group_all_events(TW_RKH_TRACE, (g_), TW_RKH_FILTER_OFF))
#define TW_FILTER_ON_EVENT(te_) ((void)tw_rkh_filter_event(TW_RKH_TRACE, (te_), TW_RKH_FILTER_ON))
#define TW_FILTER_OFF_EVENT(te_) ((void)tw_rkh_filter_event(TW_RKH_TRACE, (te_), TW_RKH_FILTER_OFF))
#define TW_FILTER_ON_SMA(prio_) ((void)tw_rkh_filter_object(TW_RKH_TRACE, (prio_), TW_RKH_FILTER_ON))
#define TW_FILTER_OFF_SMA(prio_) ((void)tw_rkh_filter_object(TW_RKH_TRACE, (prio_), TW_RKH_FILTER_OFF))
#define TW_FILTER_ON_ALL_SMA() TW_FILTER_ON_SMA(TW_RKH_ALL)
#define TW_FILTER_OFF_ALL_SMA() TW_FILTER_OFF_SMA(TW_RKH_ALL)
#define TW_FILTER_ON_SIGNAL(sig_) ((void)tw_rkh_filter_signal(TW_RKH_TRACE, (sig_), TW_RKH_FILTER_ON))
#define TW_FILTER_OFF_SIGNAL(sig_) ((void)tw_rkh_filter_signal(TW_RKH_TRACE, (sig_), TW_RKH_FILTER_OFF))
#define TW_FILTER_ON_ALL_SIGNALS() TW_FILTER_ON_SIGNAL(TW_RKH_ALL)
#define TW_FILTER_OFF_ALL_SIGNALS() TW_FILTER_OFF_SIGNAL(TW_RKH_ALL)

#endif
