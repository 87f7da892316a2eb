public import MediaDecoding
import MediaTiming
import Synchronization

/// Writes sound to a WAV file: 16 bits a sample, little-endian, or 32 bits in floating point.
///
/// The sizes in its header are put right at the end. In a pipe, where nothing can be written over, they stay at the
/// largest number, which readers take for "until it ends".
public final class WaveFile: AudioOutput {
    /// How a sample is written.
    public enum SampleFormat: Sendable, Hashable {
        /// Whole numbers of 16 bits: what everything reads.
        case integer16
        /// Floating point of 32 bits: exactly what was decoded.
        case float32

        var byteCount: Int { self == .integer16 ? 2 : 4 }
        var tag: Int { self == .integer16 ? 1 : 3 }
    }

    fileprivate struct State: ~Copyable {
        var file: OutputFile?
        var format: SoundFormat?
        var byteCount = 0
        var pending: [UInt8] = []
    }

    /// The most bytes of sound that fit: sizes have 32 bits, and 36 bytes stand before.
    static let largestByteCount = Int(UInt32.max) - 36 - 1

    private let path: String
    private let sampleFormat: SampleFormat
    private let limit: Int
    private let state = Mutex(State())

    /// Makes an output; the file is made when it is started.
    ///
    /// - Parameters:
    ///   - path: Where; what is there is replaced.
    ///   - sampleFormat: How a sample is written; 16 bits by default.
    public convenience init(path: String, sampleFormat: SampleFormat = .integer16) {
        self.init(path: path, sampleFormat: sampleFormat, limit: Self.largestByteCount)
    }

    init(path: String, sampleFormat: SampleFormat, limit: Int) {
        self.path = path
        self.sampleFormat = sampleFormat
        self.limit = limit
    }

    /// Zero: a file is not listened to.
    public var queuedDuration: Duration { .zero }
    /// Zero: a file has no holes.
    public var starvedDuration: Duration { .zero }
    /// False: it takes whatever comes.
    public var isPaced: Bool { false }

    /// Makes the file; a format once started with stays, and is what any later start returns.
    public func start(_ format: SoundFormat) throws -> SoundFormat {
        try state.withLock { state in
            if let format = state.format { return format }
            guard (1...384_000).contains(format.sampleRate), (1...64).contains(format.channelCount) else {
                throw OutputError(
                    .wrongFormat,
                    "A WAV file does not hold \(format.channelCount) channels at \(format.sampleRate) Hz",
                    path: path
                )
            }
            let file = try OutputFile(path)
            try file.write(Self.header(format, sampleFormat, byteCount: nil))
            state.file = consume file
            state.format = format
            return format
        }
    }

    /// Adds samples to the file.
    public func enqueue(_ samples: AudioSamples) throws {
        try state.withLock { state in
            let format = SoundFormat(sampleRate: samples.sampleRate, channelCount: samples.channelCount)
            guard state.format == format else {
                throw OutputError(.wrongFormat, "Sound came in another format than the file was begun with", path: path)
            }
            let count = samples.samples.count * sampleFormat.byteCount
            guard count <= limit - state.byteCount else {
                throw OutputError(.tooLarge, "A WAV file ends at 4 GiB: play less at a time", path: path)
            }
            append(samples.samples, to: &state.pending)
            state.byteCount += count
            if state.pending.count >= 65_536 { try state.write() }
        }
    }

    /// Nothing: what was enqueued is in the file.
    public func flush() {}
    /// Nothing: what comes is written.
    public func pause() {}
    /// Nothing: what comes is written.
    public func resume() {}
    /// Nothing: sound is written as it comes.
    public func setVolume(_ volume: Double, isMuted: Bool) {}

    /// Puts the sizes in the header right and closes the file.
    public func finish() throws {
        try state.withLock { state in
            try state.write()
            guard let format = state.format, let file = state.file.take() else { return }
            let header = Self.header(format, sampleFormat, byteCount: state.byteCount)
            _ = try file.overwrite(header, at: 0)
            try file.finish()
        }
    }

    private func append(_ samples: [Float], to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + samples.count * sampleFormat.byteCount)
        for sample in samples {
            switch sampleFormat {
            case .integer16:
                let value = UInt16(bitPattern: Self.integer(sample))
                bytes.append(UInt8(truncatingIfNeeded: value))
                bytes.append(UInt8(truncatingIfNeeded: value >> 8))
            case .float32:
                let value = sample.bitPattern
                for shift in [0, 8, 16, 24] {
                    bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(clamping: shift)))
                }
            }
        }
    }

    static func integer(_ sample: Float) -> Int16 {
        guard sample.isFinite else { return sample.isNaN ? 0 : sample < 0 ? .min : .max }
        // Bounded: the sample is limited to 16 bits.
        return Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
    }

    /// The 44 bytes before the sound.
    static func header(_ format: SoundFormat, _ sampleFormat: SampleFormat, byteCount: Int?) -> [UInt8] {
        let frame = format.channelCount * sampleFormat.byteCount
        let data = byteCount.map { UInt32(clamping: $0) } ?? .max
        var bytes = Array("RIFF".utf8)
        // A chunk of odd length would need a byte behind it; samples are of even length.
        append(data > .max -| 36 ? .max : data +| 36, 4, to: &bytes)
        bytes += "WAVEfmt ".utf8
        append(16, 4, to: &bytes)
        append(UInt32(clamping: sampleFormat.tag), 2, to: &bytes)
        append(UInt32(clamping: format.channelCount), 2, to: &bytes)
        append(UInt32(clamping: format.sampleRate), 4, to: &bytes)
        append(UInt32(clamping: format.sampleRate * frame), 4, to: &bytes)
        append(UInt32(clamping: frame), 2, to: &bytes)
        append(UInt32(clamping: sampleFormat.byteCount * 8), 2, to: &bytes)
        bytes += "data".utf8
        append(data, 4, to: &bytes)
        return bytes
    }

    private static func append(_ value: UInt32, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(clamping: 8 * index))) }
    }
}

extension WaveFile.State {
    fileprivate mutating func write() throws(OutputError) {
        guard !pending.isEmpty else { return }
        switch file {
        case .some(let file): try file.write(pending)
        case .none: return
        }
        pending.removeAll(keepingCapacity: true)
    }
}
