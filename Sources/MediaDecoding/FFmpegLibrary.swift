import CFFmpeg

/// What FFmpeg needs once in a process.
enum FFmpegLibrary {
    /// Touched before anything is opened: damaged media is reported by values, not on the standard error stream.
    static let isQuiet: Bool = {
        av_log_set_level(AV_LOG_QUIET)
        return true
    }()
}
