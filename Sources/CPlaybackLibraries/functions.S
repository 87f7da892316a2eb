// The functions of FFmpeg, SDL2 and libass that the package calls. Each is defined here as a jump to an address that is looked
// up at the first call, so that a program which decodes nothing loads none of these libraries. A function that is missing
// in the table is an undefined symbol when a program is linked.

#include <libavcodec/version.h>
#include "libraries.h"

#if !defined(__x86_64__)
#error "Set MILLSTREAM_LINK_PLAYBACK=1: functions that are looked up on demand are written for x86-64 alone."
#endif

// An entry of the table: the address, the name, the index of the library (struct millstream_function).
.macro function library, name
    .text
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    jmpq *.Lentry_\name(%rip)
.Lfirst_\name:
    leaq .Lentry_\name(%rip), %r11
    jmp .Lresolve
    .cfi_endproc
    .size \name, . - \name
    .section .rodata
.Lname_\name:
    .asciz "\name"
    .data
.Lentry_\name:
    .quad .Lfirst_\name
    .quad .Lname_\name
    .quad \library
.endm

// Looks up the function whose entry is in r11 and goes on in it. The registers that hold arguments are kept (System V
// ABI, AMD64, section 3.2.3).
    .text
    .p2align 4
.Lresolve:
    .cfi_startproc
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %r9
    .cfi_adjust_cfa_offset 8
    pushq %r10
    .cfi_adjust_cfa_offset 8
    subq $136, %rsp
    .cfi_adjust_cfa_offset 136
    movups %xmm0, (%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    movq %r11, %rdi
    call millstream_resolve
    movq %rax, %r11
    movups (%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    addq $136, %rsp
    .cfi_adjust_cfa_offset -136
    popq %r10
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    popq %rax
    .cfi_adjust_cfa_offset -8
    jmpq *%r11
    .cfi_endproc

    .data
    .p2align 3
    .globl millstream_functions
    .hidden millstream_functions
millstream_functions:

    function AVUTIL, av_aes_alloc
    function AVUTIL, av_aes_crypt
    function AVUTIL, av_aes_init
    function AVUTIL, av_buffer_create
    function AVUTIL, av_buffer_unref
    function AVUTIL, av_channel_layout_copy
    function AVUTIL, av_channel_layout_default
    function AVUTIL, av_channel_layout_uninit
    function AVUTIL, av_dict_free
    function AVUTIL, av_dict_get
    function AVUTIL, av_dict_set
    function AVUTIL, av_frame_alloc
    function AVUTIL, av_frame_copy_props
    function AVUTIL, av_frame_free
    function AVUTIL, av_frame_get_buffer
    function AVUTIL, av_frame_get_side_data
    function AVUTIL, av_frame_unref
    function AVUTIL, av_free
    function AVUTIL, av_freep
    function AVUTIL, av_get_pix_fmt
    function AVUTIL, av_get_pix_fmt_name
    function AVUTIL, av_hwdevice_ctx_create
    function AVUTIL, av_hwframe_transfer_data
    function AVUTIL, av_image_get_buffer_size
    function AVUTIL, av_image_get_linesize
    function AVUTIL, av_log_set_level
    function AVUTIL, av_malloc
    function AVUTIL, av_mallocz
    function AVUTIL, av_md5_alloc
    function AVUTIL, av_md5_final
    function AVUTIL, av_md5_init
    function AVUTIL, av_md5_update
    function AVUTIL, av_pix_fmt_count_planes
    function AVUTIL, av_pix_fmt_desc_get
    function AVUTIL, av_realloc_array
    function AVUTIL, av_samples_get_buffer_size
    function AVUTIL, av_spherical_alloc
    function AVUTIL, av_strerror

    function AVCODEC, av_bsf_alloc
    function AVCODEC, av_bsf_free
    function AVCODEC, av_bsf_get_by_name
    function AVCODEC, av_bsf_init
    function AVCODEC, av_bsf_receive_packet
    function AVCODEC, av_bsf_send_packet
    function AVCODEC, av_get_exact_bits_per_sample
    function AVCODEC, av_new_packet
    function AVCODEC, av_packet_alloc
    function AVCODEC, av_packet_clone
    function AVCODEC, av_packet_copy_props
    function AVCODEC, av_packet_free
    function AVCODEC, av_packet_free_side_data
    function AVCODEC, av_packet_get_side_data
    function AVCODEC, av_packet_new_side_data
    function AVCODEC, av_packet_rescale_ts
    function AVCODEC, av_parser_close
    function AVCODEC, av_parser_init
    function AVCODEC, av_parser_parse2
    function AVCODEC, avcodec_alloc_context3
    function AVCODEC, avcodec_default_get_buffer2
    function AVCODEC, avcodec_find_decoder
    function AVCODEC, avcodec_flush_buffers
    function AVCODEC, avcodec_free_context
    function AVCODEC, avcodec_get_name
    function AVCODEC, avcodec_open2
    function AVCODEC, avcodec_parameters_alloc
    function AVCODEC, avcodec_parameters_copy
    function AVCODEC, avcodec_parameters_free
    function AVCODEC, avcodec_parameters_to_context
    function AVCODEC, avcodec_receive_frame
    function AVCODEC, avcodec_send_packet

    function AVFORMAT, av_find_input_format
    function AVFORMAT, av_interleaved_write_frame
    function AVFORMAT, av_read_frame
    function AVFORMAT, av_stream_get_parser
    function AVFORMAT, av_write_trailer
    function AVFORMAT, avformat_alloc_context
    function AVFORMAT, avformat_alloc_output_context2
    function AVFORMAT, avformat_close_input
    function AVFORMAT, avformat_free_context
    function AVFORMAT, avformat_new_stream
    function AVFORMAT, avformat_open_input
    function AVFORMAT, avformat_query_codec
    function AVFORMAT, avformat_write_header
    function AVFORMAT, avio_alloc_context
    function AVFORMAT, avio_close_dyn_buf
    function AVFORMAT, avio_closep
    function AVFORMAT, avio_context_free
    function AVFORMAT, avio_open
    function AVFORMAT, avio_open_dyn_buf

    function AVFILTER, av_buffersink_get_frame
    function AVFILTER, av_buffersrc_add_frame
    function AVFILTER, avfilter_get_by_name
    function AVFILTER, avfilter_graph_alloc
    function AVFILTER, avfilter_graph_config
    function AVFILTER, avfilter_graph_create_filter
    function AVFILTER, avfilter_graph_free
    function AVFILTER, avfilter_link

    function SWSCALE, sws_freeContext
    function SWSCALE, sws_getCachedContext
    function SWSCALE, sws_getCoefficients
    function SWSCALE, sws_isSupportedInput
    function SWSCALE, sws_isSupportedOutput
    function SWSCALE, sws_scale_frame
    function SWSCALE, sws_setColorspaceDetails

    function SWRESAMPLE, swr_alloc_set_opts2
    function SWRESAMPLE, swr_convert
    function SWRESAMPLE, swr_free
    function SWRESAMPLE, swr_get_delay
    function SWRESAMPLE, swr_init

    function SDL, SDL_CloseAudioDevice
    function SDL, SDL_CreateRenderer
    function SDL, SDL_CreateTexture
    function SDL, SDL_CreateWindow
    function SDL, SDL_DestroyRenderer
    function SDL, SDL_DestroyTexture
    function SDL, SDL_DestroyWindow
    function SDL, SDL_GL_GetProcAddress
    function SDL, SDL_GetAudioDeviceStatus
    function SDL, SDL_GetCurrentVideoDriver
    function SDL, SDL_GetDisplayBounds
    function SDL, SDL_GetDisplayUsableBounds
    function SDL, SDL_GetError
    function SDL, SDL_GetNumVideoDrivers
    function SDL, SDL_GetRendererInfo
    function SDL, SDL_GetRendererOutputSize
    function SDL, SDL_GetVersion
    function SDL, SDL_GetVideoDriver
    function SDL, SDL_GetWindowDisplayIndex
    function SDL, SDL_GetWindowFlags
    function SDL, SDL_GetWindowID
    function SDL, SDL_GetWindowPosition
    function SDL, SDL_GetWindowSize
    function SDL, SDL_GetWindowTitle
    function SDL, SDL_InitSubSystem
    function SDL, SDL_OpenAudioDevice
    function SDL, SDL_PauseAudioDevice
    function SDL, SDL_PollEvent
    function SDL, SDL_PushEvent
    function SDL, SDL_QuitSubSystem
    function SDL, SDL_RegisterEvents
    function SDL, SDL_RenderClear
    function SDL, SDL_RenderCopy
    function SDL, SDL_RenderPresent
    function SDL, SDL_SetHint
    function SDL, SDL_SetMainReady
    function SDL, SDL_SetRenderDrawBlendMode
    function SDL, SDL_SetRenderDrawColor
    function SDL, SDL_SetTextureAlphaMod
    function SDL, SDL_SetTextureBlendMode
    function SDL, SDL_SetTextureColorMod
    function SDL, SDL_SetTextureScaleMode
    function SDL, SDL_SetWindowFullscreen
    function SDL, SDL_SetWindowMinimumSize
    function SDL, SDL_SetWindowPosition
    function SDL, SDL_SetWindowSize
    function SDL, SDL_SetWindowTitle
    function SDL, SDL_SetYUVConversionMode
    function SDL, SDL_ShowCursor
    function SDL, SDL_UpdateNVTexture
    function SDL, SDL_UpdateTexture
    function SDL, SDL_UpdateYUVTexture
    function SDL, SDL_WaitEventTimeout

    // The functions for side data of tracks, which FFmpeg 6.1 replaced.
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    function AVCODEC, av_packet_side_data_add
    function AVCODEC, av_packet_side_data_get
    function AVCODEC, av_packet_side_data_remove
#else
    function AVFORMAT, av_stream_add_side_data
    function AVFORMAT, av_stream_get_side_data
#endif

    function ASS, ass_free_track
    function ASS, ass_library_done
    function ASS, ass_library_init
    function ASS, ass_read_memory
    function ASS, ass_render_frame
    function ASS, ass_renderer_done
    function ASS, ass_renderer_init
    function ASS, ass_set_fonts
    function ASS, ass_set_frame_size
    function ASS, ass_set_message_cb
    function ASS, ass_set_storage_size

    .data
    .globl millstream_functions_end
    .hidden millstream_functions_end
millstream_functions_end:

    .section .note.GNU-stack, "", @progbits
