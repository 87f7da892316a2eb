import CFFmpeg

/// The process-wide configuration of FFmpeg.
enum FFmpegLibrary {
    /// A Boolean value that is always true; reading it the first time disables FFmpeg's log output to standard error.
    ///
    /// Read it before FFmpeg opens anything. Damaged media is reported through return values and errors instead.
    static let isLoggingDisabled: Bool = {
        av_log_set_level(AV_LOG_QUIET)
        return true
    }()
}
