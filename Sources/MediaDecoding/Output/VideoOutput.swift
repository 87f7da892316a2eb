/// A destination for decoded video frames, such as a window, files or a closure of the application.
///
/// The caller determines the clock. Calls may come from any thread, but only one at a time. Frames arrive in the order
/// in which they are shown, which is not the order of their times after a seek or in reverse playback.
public protocol VideoOutput: Sendable {
    /// Shows a frame until the next one arrives.
    ///
    /// A window does not block: a frame that it has not shown yet is replaced by the newer one and counted. A file is
    /// written before this function returns, which limits a decoder without a clock to the speed of the disk.
    ///
    /// - Parameter frame: The frame, with its time in the timeline of the player item.
    /// - Throws: `OutputError`, only for files; data that was already written remains.
    func show(_ frame: VideoFrame) throws

    /// Starts playback: frames are played from now on, and not only prepared.
    func beginPlayback()

    /// Ends the use of the output by an item; another item may use it afterwards.
    func endPlayback()

    /// Removes the current frame, because its item is no longer presented.
    func clear()

    /// Writes buffered data and closes files; no frames may be shown afterwards.
    ///
    /// - Throws: `OutputError`, only for files.
    func finish() throws
}

extension VideoOutput {
    /// Does nothing by default.
    public func beginPlayback() {}

    /// Does nothing by default.
    public func endPlayback() {}

    /// Does nothing by default.
    public func clear() {}

    /// Does nothing by default.
    public func finish() throws {}
}
