public import MediaDecoding
import MediaTiming
import Synchronization

/// An audio output that writes a WAV file with 16-bit little-endian integers or 32-bit floating-point samples.
///
/// The sizes in the header are corrected when the file is finished. In a pipe, where the header cannot be overwritten,
/// they keep the maximum value, which readers interpret as an unknown length.
public final class WaveFileOutput: AudioOutput {
    /// The encoding of samples.
    public enum SampleFormat: Sendable, Hashable {
        /// 16-bit integers, which all readers support.
        case integer16
        /// 32-bit floating point, which preserves the decoded samples exactly.
        case float32

        var byteCount: Int { self == .integer16 ? 2 : 4 }
        var tag: Int { self == .integer16 ? 1 : 3 }
    }

    private struct State: ~Copyable {
        var output = CollectedOutput()
        var format: AudioFormat?
        var byteCount = 0
    }

    /// The maximum number of bytes of audio data: sizes have 32 bits, and the RIFF size includes 36 bytes of the
    /// header.
    static let maximumDataSize = Int(UInt32.max) - 36 - 1

    private let path: String
    private let sampleFormat: SampleFormat
    private let limit: Int
    private let state = Mutex(State())

    /// Creates an output; ``start(_:)`` creates the file.
    ///
    /// - Parameters:
    ///   - path: The path of the file; an existing file is replaced.
    ///   - sampleFormat: The encoding of samples. The default is ``SampleFormat/integer16``.
    public convenience init(path: String, sampleFormat: SampleFormat = .integer16) {
        self.init(path: path, sampleFormat: sampleFormat, limit: Self.maximumDataSize)
    }

    init(path: String, sampleFormat: SampleFormat, limit: Int) {
        self.path = path
        self.sampleFormat = sampleFormat
        self.limit = limit
    }

    /// The queued duration, always zero because nothing is played.
    public var queuedDuration: Duration { .zero }
    /// The duration of missing audio, always zero because a file has no gaps.
    public var underrunDuration: Duration { .zero }
    /// A Boolean value that is always false, because a file accepts samples at any speed.
    public var isRealTime: Bool { false }

    /// Creates the file; the first format is final, and later calls return it.
    public func start(_ format: AudioFormat) throws -> AudioFormat {
        try state.withLock { state in
            if let format = state.format { return format }
            guard (1...384_000).contains(format.sampleRate), (1...64).contains(format.channelCount) else {
                throw OutputError(
                    .wrongFormat,
                    "A WAV file cannot contain \(format.channelCount) channels at \(format.sampleRate) Hz",
                    path: path
                )
            }
            let file = try OutputFile(path)
            do {
                try file.write(Self.header(format, sampleFormat, byteCount: nil))
            } catch {
                file.discard()
                throw error
            }
            state.output.begin(file)
            state.format = format
            return format
        }
    }

    /// Appends samples to the file.
    public func enqueue(_ samples: AudioSamples) throws {
        try state.withLock { state in
            let format = AudioFormat(sampleRate: samples.sampleRate, channelCount: samples.channelCount)
            guard state.format == format else {
                throw OutputError(
                    .wrongFormat,
                    "The audio format differs from the one that the file was started with",
                    path: path
                )
            }
            let count = samples.samples.count * sampleFormat.byteCount
            guard count <= limit - state.byteCount else {
                throw OutputError(.tooLarge, "A WAV file is limited to 4 GiB: record a shorter time range", path: path)
            }
            append(samples.samples, to: &state.output.pending)
            state.byteCount += count
            if state.output.pending.count >= 65_536 { try state.output.write() }
        }
    }

    /// Does nothing, because enqueued samples are already in the file.
    public func flush() {}
    /// Does nothing, because enqueued samples are always written.
    public func pause() {}
    /// Does nothing, because enqueued samples are always written.
    public func resume() {}
    /// Does nothing, because samples are written unchanged.
    public func setVolume(_ volume: Double, isMuted: Bool) {}

    /// Corrects the sizes in the header and closes the file.
    public func finish() throws {
        try state.withLock { state in
            try state.output.write()
            guard let format = state.format, let file = state.output.takeFile() else { return }
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

    /// Returns the 44 bytes before the audio data; with the maximum sizes if `byteCount` is `nil`.
    static func header(_ format: AudioFormat, _ sampleFormat: SampleFormat, byteCount: Int?) -> [UInt8] {
        let frame = format.channelCount * sampleFormat.byteCount
        let data = byteCount.map { UInt32(clamping: $0) } ?? .max
        var bytes = Array("RIFF".utf8)
        // A chunk of odd length would require a padding byte, but samples have an even length.
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
