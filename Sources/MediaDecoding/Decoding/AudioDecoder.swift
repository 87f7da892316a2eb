import CFFmpeg
import MediaTiming

/// A decoder that converts the audio of one track to floating-point samples with a given sample rate and channel count.
///
/// Encoder priming samples are removed if the container declares them. Presentation times come from the container. As
/// long as its timestamps agree with the number of decoded samples to within 2 ms, times advance by the number of
/// samples only, so that timestamps with a coarse timescale cause neither gaps nor overlaps. Larger deviations are kept
/// in the times. Use it from one thread at a time.
final class AudioDecoder {
    struct Options: Sendable, Hashable {
        /// The output sample rate, in hertz; `nil` for the sample rate of the stream.
        var sampleRate: Int?
        /// The number of output channels; `nil` for the number of channels of the stream.
        var channelCount: Int?
    }

    private static let timestampTolerance = MediaTime(value: 2, timescale: 1_000)
    /// The supported sample rates, in hertz.
    ///
    /// Frames with a lower rate are dropped: resampled to the output rate, a single one could last for minutes.
    static let supportedSampleRates = 1_000...768_000
    /// The maximum number of channels of the stream and of the output; frames with more are dropped.
    static let maximumChannelCount = 64

    private(set) var format: TrackFormat
    /// The number of packets that could not be decoded completely.
    var damagedPacketCount: Int { context.damagedPacketCount }

    private let options: Options
    private let context: DecoderContext
    private var resampler: AudioResampler?

    init(_ format: TrackFormat, options: Options = Options()) throws(DecodingError) {
        self.format = format
        self.options = options
        context = try unsafe DecoderContext(format) { unsafe $0.pointee.thread_count = 1 }
    }

    /// Returns whether packets of another format can follow without draining the decoder.
    func canContinue(with other: TrackFormat) -> Bool { format.canContinue(with: other) }

    /// Sets the format of the packets that follow.
    ///
    /// Call it only if ``canContinue(with:)`` returns true for the format.
    func switchFormat(to other: TrackFormat) { format = other }

    /// Decodes a packet and returns the samples that are ready.
    func decode(_ packet: MediaPacket) -> [AudioSamples] { decodeAndResample(packet) }

    /// Returns all buffered samples; more packets may follow.
    func drain() -> [AudioSamples] {
        var list = decodeAndResample(nil)
        context.flush()
        list += finishRun()
        return list
    }

    /// Discards all buffered samples and timing state, as required after a seek.
    func flush() {
        context.flush()
        resampler = nil
    }

    private func decodeAndResample(_ packet: MediaPacket?) -> [AudioSamples] {
        var list: [AudioSamples] = []
        unsafe context.decode(packet) { frame in
            unsafe list += self.resample(frame)
            var used: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&used)
        }
        return list
    }

    private func resample(_ frame: UnsafeMutablePointer<AVFrame>) -> [AudioSamples] {
        let channels = unsafe Int(frame.pointee.ch_layout.nb_channels)
        guard unsafe frame.pointee.nb_samples > 0,
            unsafe Self.supportedSampleRates.contains(Int(frame.pointee.sample_rate)),
            (1...Self.maximumChannelCount).contains(channels)
        else { return [] }
        var timestamp = unsafe frame.pointee.pts
        if timestamp == cffmpeg_no_timestamp() { timestamp = unsafe frame.pointee.best_effort_timestamp }
        let timestampTime = timestamp == cffmpeg_no_timestamp() ? nil : format.mediaTime(ofTimestamp: timestamp)
        var list: [AudioSamples] = []
        if let current = resampler {
            let expected = current.inputEnd
            let difference = (timestampTime ?? expected) - expected
            let isOff = difference > Self.timestampTolerance || difference < .zero - Self.timestampTolerance
            if unsafe isOff || !current.acceptsFormat(of: frame) {
                list += finishRun(nextStart: isOff ? nil : expected)
            }
        }
        if resampler == nil {
            resampler = unsafe AudioResampler(
                frame,
                from: nextRunStart ?? timestampTime ?? .zero,
                sampleRate: min(
                    Self.supportedSampleRates.upperBound,
                    max(1, options.sampleRate ?? Int(frame.pointee.sample_rate))
                ),
                channelCount: min(Self.maximumChannelCount, max(1, options.channelCount ?? channels))
            )
            nextRunStart = nil
        }
        if let samples = unsafe resampler?.convert(frame) { list.append(samples) }
        return list
    }

    /// The start time of the next contiguous run of samples if it continues the previous one; `nil` if the timestamp of
    /// its first frame determines it.
    private var nextRunStart: MediaTime?

    private func finishRun(nextStart next: MediaTime? = nil) -> [AudioSamples] {
        let rest = resampler?.flush()
        resampler = nil
        nextRunStart = next
        return rest.map { [$0] } ?? []
    }
}
