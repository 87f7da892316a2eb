/// Where pictures go when their time has come: a window, files, a closure of the application.
///
/// Whoever calls it owns the clock. One caller at a time, from any thread; frames come in the order in which they are to be
/// seen, which after a seek or in reverse is not the order of their times.
public protocol VideoOutput: Sendable {
    /// Shows a frame until the next one comes.
    ///
    /// A window does not wait: a frame that it did not get round to is replaced by the newer one and counted. A file is
    /// written before this returns, so that whoever decodes as fast as possible is slowed down to what the disk takes.
    ///
    /// - Parameter frame: The picture, with its time on the timeline of the item.
    /// - Throws: `OutputError`, for files only; what was written before stays.
    func show(_ frame: VideoFrame) throws

    /// What is shown from now on is played, and not only prepared.
    func begin()

    /// Nothing more is shown of what was shown so far: the output may be somebody else's.
    func end()

    /// Shows no picture: the item that it belonged to is gone.
    func clear()

    /// Writes what is still held back, and closes files. Nothing is shown afterwards.
    ///
    /// - Throws: `OutputError`, for files only.
    func finish() throws
}

extension VideoOutput {
    /// Nothing to begin.
    public func begin() {}

    /// Nothing to end.
    public func end() {}

    /// Nothing to clear.
    public func clear() {}

    /// Nothing to finish.
    public func finish() throws {}
}
