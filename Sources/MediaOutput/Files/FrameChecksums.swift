public import MediaDecoding
import Synchronization

/// Writes a line a frame: its time, its duration, its size and a checksum of its pixels.
///
/// ```
/// #time,duration,width,height,format,checksum
/// 0.08,0.04,640,360,yuv420p,9e107d9d372bb6826bd81d3542a419d6
/// ```
/// Times are in seconds. The checksum is the MD5 of the pixels as they were decoded, plane by plane, without padding: the
/// same that `ffmpeg -f framemd5` gives for the same pixel format.
public final class FrameChecksums: VideoOutput {
    fileprivate struct State: ~Copyable {
        var file: OutputFile?
        var pending: [UInt8] = []
    }

    private let state: Mutex<State>

    /// Makes the file.
    ///
    /// - Parameter path: Where; what is there is replaced.
    /// - Throws: ``OutputError`` with ``OutputError/Code/fileFailed``.
    public init(path: String) throws {
        let file = try OutputFile(path)
        state = Mutex(State(file: file, pending: Array("#time,duration,width,height,format,checksum\n".utf8)))
    }

    /// Adds the line of a frame.
    public func show(_ frame: VideoFrame) throws {
        let line = Self.line(frame)
        try state.withLock { state in
            state.pending += line.utf8
            if state.pending.count >= 32_768 { try state.write() }
        }
    }

    /// Writes the last lines and closes the file.
    public func finish() throws {
        try state.withLock { state in
            try state.write()
            guard let file = state.file.take() else { return }
            try file.finish()
        }
    }

    static func line(_ frame: VideoFrame) -> String {
        let picture = frame.picture
        let format =
            switch picture.format {
            case .other(let name): name
            case let known: "\(known)"
            }
        return "\(frame.time),\(frame.duration),\(picture.width),\(picture.height),\(format),\(picture.checksum())\n"
    }
}

extension FrameChecksums.State {
    fileprivate mutating func write() throws(OutputError) {
        guard !pending.isEmpty else { return }
        switch file {
        case .some(let file): try file.write(pending)
        case .none: return
        }
        pending.removeAll(keepingCapacity: true)
    }
}
