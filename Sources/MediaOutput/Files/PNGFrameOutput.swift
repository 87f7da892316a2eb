public import MediaDecoding
public import MediaTiming
import Synchronization

/// A video output that writes frames as PNG files: all frames, or those shown at given times.
public final class PNGFrameOutput: VideoOutput {
    /// The frames to write, and the paths of their files.
    public enum Selection: Sendable {
        /// All frames, as `frame-000001.png` and so on in an existing folder.
        case all(folder: String)
        /// The frame shown at each time, in the file with the given path.
        case times([(time: MediaTime, path: String)])
    }

    fileprivate struct State {
        var count = 0
        var requestedTimes: [(time: MediaTime, path: String)]
        var previous: VideoFrame?
        var written: [String] = []
    }

    private let folder: String?
    private let state: Mutex<State>

    /// Creates an output; no file is written before the first frame.
    public init(_ selection: Selection) {
        switch selection {
        case .all(let folder):
            self.folder = folder
            state = Mutex(State(requestedTimes: []))
        case .times(let wanted):
            folder = nil
            state = Mutex(State(requestedTimes: wanted))
        }
    }

    /// The paths of the files in the order in which they were written.
    public var writtenPaths: [String] { state.withLock { $0.written } }

    /// A Boolean value that indicates whether all requested frames have been written; always false for
    /// ``Selection/all(folder:)``.
    public var isComplete: Bool { folder == nil && state.withLock { $0.requestedTimes.isEmpty } }

    /// Writes the frame if it is selected, or the previous frame if it was shown at a requested time.
    public func show(_ frame: VideoFrame) throws {
        // Calls come one at a time, so the lock is not held while a file is written.
        let paths = state.withLock { state -> [(VideoFrame, String)] in
            if let folder {
                state.count += 1
                let number = String(state.count)
                let digits = String(repeating: "0", count: max(0, 6 - number.count)) + number
                return [(frame, "\(folder)/frame-\(digits).png")]
            }
            let previous = state.previous
            state.previous = frame
            return state.takeFrames { time in
                if frame.time <= time, time < frame.time + frame.duration { return frame }
                // A frame without a duration is shown until the next one.
                if let previous, previous.time <= time, time < frame.time { return previous }
                return nil
            }
        }
        for (frame, path) in paths { try write(frame, to: path) }
    }

    /// Writes the last frame for the requested times at which it is shown.
    ///
    /// - Throws: ``OutputError`` if a file could not be written, or with ``OutputError/Code/noFrame`` if no frame was
    ///   shown at a requested time.
    public func finish() throws {
        let (paths, missing) = state.withLock { state -> ([(VideoFrame, String)], [MediaTime]) in
            let last = state.previous
            let paths = state.takeFrames { time in
                guard let last, last.duration == .zero, last.time <= time else { return nil }
                return last
            }
            let missing = state.requestedTimes.map(\.time)
            state.requestedTimes = []
            return (paths, missing)
        }
        for (frame, path) in paths { try write(frame, to: path) }
        guard missing.isEmpty else {
            let times = missing.map { "\($0) s" }.joined(separator: ", ")
            throw OutputError(.noFrame, "No frame was shown at \(times): request times within the played range")
        }
    }

    private func write(_ frame: VideoFrame, to path: String) throws {
        try Self.write(frame, to: path)
        state.withLock { $0.written.append(path) }
    }

    /// Writes a frame as a PNG file, which is removed if it is new and cannot be written completely.
    package static func write(_ frame: VideoFrame, to path: String) throws {
        let bytes = try PNGEncoder.encode(frame.pixelBuffer)
        let file = try OutputFile(path)
        do {
            try file.write(bytes)
        } catch {
            file.discard()
            throw error
        }
        try file.finish()
    }
}

extension PNGFrameOutput.State {
    /// Removes the requested times for which there is a frame, and returns the frames with their paths.
    fileprivate mutating func takeFrames(_ frame: (MediaTime) -> VideoFrame?) -> [(VideoFrame, String)] {
        var result: [(VideoFrame, String)] = []
        requestedTimes.removeAll { entry in
            guard let found = frame(entry.time) else { return false }
            result.append((found, entry.path))
            return true
        }
        return result
    }
}
