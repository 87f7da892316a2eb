import CFFmpeg
import MediaTiming

/// A resampler for a contiguous run of audio frames with the same format.
@safe final class AudioResampler {
    private var context: OpaquePointer?
    /// The maximum number of output samples for one frame, over all channels: 64 MiB.
    private static let maximumSampleCount = 1 << 24
    private let start: MediaTime
    private let sampleRate: Int
    private let channelCount: Int
    private let inputRate: Int
    private let inputFormat: Int32
    private let inputChannels: Int32
    private let inputMask: UInt64
    private var inputSampleCount: Int64 = 0
    private var outputSampleCount: Int64 = 0

    init?(
        _ frame: UnsafeMutablePointer<AVFrame>,
        from start: MediaTime,
        sampleRate: Int,
        channelCount: Int
    ) {
        self.start = start
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        inputRate = unsafe Int(frame.pointee.sample_rate)
        inputFormat = unsafe frame.pointee.format
        inputChannels = unsafe frame.pointee.ch_layout.nb_channels
        inputMask = unsafe frame.pointee.ch_layout.u.mask
        unsafe context = unsafe cffmpeg_resampler(frame, Int32(clamping: channelCount), Int32(clamping: sampleRate))
        if unsafe context == nil { return nil }
    }

    deinit { unsafe swr_free(&context) }

    /// The presentation time of the next input frame if it follows without a gap.
    var inputEnd: MediaTime { start + MediaTime(value: inputSampleCount, timescale: Int64(inputRate)) }

    func acceptsFormat(of frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        unsafe Int(frame.pointee.sample_rate) == inputRate && frame.pointee.format == inputFormat
            && frame.pointee.ch_layout.nb_channels == inputChannels && frame.pointee.ch_layout.u.mask == inputMask
    }

    func convert(_ frame: UnsafeMutablePointer<AVFrame>) -> AudioSamples? {
        unsafe inputSampleCount +|= Int64(frame.pointee.nb_samples)
        return unsafe convert(frame, inputCount: Int64(frame.pointee.nb_samples))
    }

    /// Returns the samples that the resampler still buffers.
    func flush() -> AudioSamples? { unsafe convert(nil, inputCount: 0) }

    private func convert(_ frame: UnsafeMutablePointer<AVFrame>?, inputCount: Int64) -> AudioSamples? {
        guard let context = unsafe context else { return nil }
        let waiting = unsafe max(0, swr_get_delay(context, Int64(sampleRate)))
        let capacity = Int(waiting +| inputCount *| Int64(sampleRate) / Int64(max(1, inputRate))) + 64
        guard capacity <= Self.maximumSampleCount / max(1, channelCount) else { return nil }
        let samples = unsafe [Float](unsafeUninitializedCapacity: capacity * channelCount) { buffer, count in
            let made = unsafe cffmpeg_resample(context, buffer.baseAddress, Int32(clamping: capacity), frame)
            count = max(0, Int(made)) * channelCount
        }
        guard !samples.isEmpty else { return nil }
        let time = start + MediaTime(value: outputSampleCount, timescale: Int64(sampleRate))
        outputSampleCount +|= Int64(samples.count / max(1, channelCount))
        return AudioSamples(time: time, sampleRate: sampleRate, channelCount: channelCount, samples: samples)
    }
}
