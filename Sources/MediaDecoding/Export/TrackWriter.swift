import CFFmpeg
import MediaTiming
import SegmentFormat

/// A writer of one video or audio track, which makes the timestamps valid for a file.
final class TrackWriter {
    private let conversion: TrackConversion
    private let writer: MediaFileWriter
    private let track: Int32
    private var lastDecodeTime: Int64?
    /// The end of the last audio packet.
    private var audioEnd: Int64?
    /// A Boolean value that indicates whether audio that starts before the file is left out; `nil` before the first packet.
    private var omitsAudioBeforeStart: Bool?
    /// The last known duration of a video packet; 0 before there is one.
    private var frameDuration: Int64 = 0

    /// The maximum deviation of consecutive audio packets that is due to rounded timestamps, as a fraction of a second.
    private static let audioTolerance: Int64 = 500

    /// The time by which audio may start before the file: that of the samples with which an encoder begins.
    private static let audioLead = MediaTime(value: 1, timescale: 10)

    /// Creates a writer and adds its track to a file.
    init(
        _ conversion: TrackConversion,
        _ properties: ExportSource.Properties,
        to writer: MediaFileWriter
    ) throws(DecodingError) {
        self.conversion = conversion
        self.writer = writer
        track = try writer.addTrack(conversion, properties)
    }

    /// Writes the samples of a segment.
    ///
    /// - Parameters:
    ///   - samples: The samples.
    ///   - offset: The offset from the timestamps of the samples to those of the file.
    /// - Throws: `DecodingError` if the samples have another format than the track, or cannot be written.
    func write(_ samples: DecodableSegment.Samples, offset: MediaTime) throws(DecodingError) {
        try conversion.validate(samples.format, at: samples.firstTimestamp + offset)
        let timeBase = conversion.timeBase
        let isAudio = conversion.format.kind == .audio
        for packet in samples.packets {
            if isAudio, isBeforeStart(packet.presentationTime + offset) { continue }
            guard let converted = try unsafe conversion.convert(packet, samples.format) else { continue }
            var presentation = (packet.presentationTime + offset).units(in: timeBase)
            var decode = (packet.decodeTime + offset).units(in: timeBase)
            var duration = packet.duration.units(in: timeBase)
            if isAudio {
                // Timestamps of transport streams are rounded to 90 kHz; the samples are contiguous.
                let tolerance = Int64(timeBase.den) / Self.audioTolerance
                if let end = audioEnd, abs(presentation -| end) <= tolerance { presentation = end }
                decode = presentation
                audioEnd = (presentation +| duration)
            } else if duration > 0 {
                frameDuration = duration
            } else {
                // The last frame of a transport stream is followed by none that would tell its duration, and an MP4 file would end
                // before a frame without one.
                duration = frameDuration
            }
            // At discontinuities, the media may overlap by a part of a frame.
            if let lastDecodeTime, decode <= lastDecodeTime { decode = (lastDecodeTime +| 1) }
            lastDecodeTime = decode
            unsafe converted.pointee.dts = decode
            unsafe converted.pointee.pts = max(presentation, decode)
            unsafe converted.pointee.duration = duration
            try unsafe writer.write(converted, track: track, timeBase: timeBase)
        }
    }

    /// Returns a Boolean value that indicates whether an audio packet is left out, because it is before the start of the file.
    private func isBeforeStart(_ time: MediaTime) -> Bool {
        let omits = omitsAudioBeforeStart ?? (time < .zero - Self.audioLead)
        omitsAudioBeforeStart = omits
        return omits && time < .zero
    }
}
