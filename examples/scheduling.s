@ The symbols of the firmware that scheduling.trx simulates: control blocks and stacks at the addresses in the
@ trace, and two functions, but no code. Makes scheduling.elf, for `--elf`:
@
@   arm-none-eabi-as -mthumb -o scheduling.o scheduling.s
@   arm-none-eabi-ld --nmagic -z noexecstack -e main -Ttext=0x08000100 -Tbss=0x20000400 -o scheduling.elf scheduling.o

    .macro variable name, offset, size
    .org \offset - 0x400
    .global \name
    .type \name, %object
    .size \name, \size
\name:
    .endm

    .bss
    variable timer_thread, 0x0400, 0xC0
    variable uart_rx, 0x04C0, 0xC0
    variable bus_mutex, 0x0580, 0xC0
    variable log_mutex, 0x0640, 0xC0
    variable samples_queue, 0x0700, 0xC0
    variable log_requests, 0x07C0, 0xC0
    variable heartbeat_timer, 0x0880, 0xC0
    variable threads, 0x0940, 4 * 0xC0
    variable timer_stack, 0x2000, 0x400
    variable control_stack, 0x2400, 0x400
    variable sensor_stack, 0x2800, 0x400
    variable telemetry_stack, 0x2C00, 0x400
    variable logger_stack, 0x3000, 0x400
    variable system_stack, 0x7000, 0x1000
    .org 0x8000 - 0x400

    .text
    .thumb
    .global main, uart_handler
    .type main, %function
    .size main, 8
main:
    b main
    .space 6
    .type uart_handler, %function
uart_handler:
    bx lr
