import CFFmpeg
import MediaTiming

/// Decodes the sound of one track into floating-point samples of a wanted rate and number of channels.
///
/// Samples that encoders put in front to get started are left out where the container says so. Times follow the container;
/// while its timestamps agree with the number of samples to 2 ms, they go on by samples alone, so that timestamps rounded
/// to a coarse clock make neither gaps nor overlaps. Real ones are seen in the times. One thread uses it at a time.
final class AudioDecoder {
    struct Options: Sendable, Hashable {
        /// Samples a second that come out; `nil` for those of the stream.
        var sampleRate: Int?
        /// Channels that come out; `nil` for those of the stream.
        var channelCount: Int?
    }

    private static let tolerance = MediaTime(value: 2, timescale: 1_000)
    /// The sample rates that are played, in hertz: at lower ones, a frame would become minutes at the rate of the output.
    static let sampleRates = 1_000...768_000
    /// The maximum number of channels.
    static let mostChannels = 64

    private(set) var format: TrackFormat
    /// Packets that could not be decoded.
    var damagedPacketCount: Int { context.damagedPacketCount }

    private let options: Options
    private let context: DecoderContext
    private var resampling: Resampling?

    init(_ format: TrackFormat, options: Options = Options()) throws(DecodingError) {
        self.format = format
        self.options = options
        context = try unsafe DecoderContext(format) { unsafe $0.pointee.thread_count = 1 }
    }

    /// Whether packets of another format can follow without draining.
    func canContinue(with other: TrackFormat) -> Bool { format.canContinue(with: other) }

    /// Tells of a format that follows, for which ``canContinue(with:)`` holds.
    func `continue`(with other: TrackFormat) { format = other }

    /// Decodes a packet.
    func decode(_ packet: MediaPacket) -> [AudioSamples] { run(packet) }

    /// Gives all that waits; packets may follow.
    func drain() -> [AudioSamples] {
        var list = run(nil)
        context.flush()
        list += endOfStretch()
        return list
    }

    /// Forgets all: at a seek.
    func flush() {
        context.flush()
        resampling = nil
    }

    private func run(_ packet: MediaPacket?) -> [AudioSamples] {
        var list: [AudioSamples] = []
        unsafe context.decode(packet) { frame in
            unsafe list += self.take(frame)
            var used: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&used)
        }
        return list
    }

    private func take(_ frame: UnsafeMutablePointer<AVFrame>) -> [AudioSamples] {
        let channels = unsafe Int(frame.pointee.ch_layout.nb_channels)
        guard unsafe frame.pointee.nb_samples > 0, unsafe Self.sampleRates.contains(Int(frame.pointee.sample_rate)),
            (1...Self.mostChannels).contains(channels)
        else { return [] }
        var timestamp = unsafe frame.pointee.pts
        if timestamp == cffmpeg_no_timestamp() { timestamp = unsafe frame.pointee.best_effort_timestamp }
        let said = timestamp == cffmpeg_no_timestamp() ? nil : format.time(timestamp)
        var list: [AudioSamples] = []
        if let going = resampling {
            let expected = going.inputEnd
            let difference = (said ?? expected) - expected
            let isOff = difference > Self.tolerance || difference < .zero - Self.tolerance
            if unsafe isOff || !going.fits(frame) { list += endOfStretch(isOff ? nil : expected) }
        }
        if resampling == nil {
            resampling = unsafe Resampling(
                frame,
                from: nextStart ?? said ?? .zero,
                sampleRate: min(
                    Self.sampleRates.upperBound,
                    max(1, options.sampleRate ?? Int(frame.pointee.sample_rate))
                ),
                channelCount: min(Self.mostChannels, max(1, options.channelCount ?? channels))
            )
            nextStart = nil
        }
        if let samples = unsafe resampling?.convert(frame) { list.append(samples) }
        return list
    }

    /// Where the next stretch begins without a hole; `nil` where its first frame says it.
    private var nextStart: MediaTime?

    private func endOfStretch(_ next: MediaTime? = nil) -> [AudioSamples] {
        let rest = resampling?.finish()
        resampling = nil
        nextStart = next
        return rest.map { [$0] } ?? []
    }
}
