import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat

/// A reader for the samples of movie fragments, `moof` and `mdat` (ISO/IEC 14496-12 §8.8).
///
/// FFmpeg's own reader prefers the presentation times of `sidx` to the decode times of `tfdt`, needs the initialization
/// again for each segment, and does not support all protection schemes.
struct FragmentReader {
    let initialization: MovieInitialization
    let key: SampleKey?
    /// The decode times of the next samples of tracks whose fragments lack `tfdt`, in units of the track timescale.
    var nextDecodeTimes: [UInt32: Int64]

    private var result = DemuxedSegment()
    private var decryptions: [UInt32: CommonEncryptionDecryptor] = [:]
    private var segmentStart: MediaTime?
    /// The number of bytes that further samples may have.
    ///
    /// Samples do not overlap, so they are not larger than the segment in total.
    private var remainingSampleSize = 0
    /// The number of bytes that may still be read as sample encryption entries, because several fragments may refer to
    /// the same entries.
    private var remainingEncryptionListSize = 0
    private var eventMessages: [EventMessage] = []

    /// The minimum size of a sample that is lost if it consists of zeros; speech codecs have a frame for silence of one
    /// zero.
    private static let minimumZeroSampleSize = 16

    init(_ initialization: MovieInitialization, key: SampleKey?, nextDecodeTimes: [UInt32: Int64]) {
        self.initialization = initialization
        self.key = key
        self.nextDecodeTimes = nextDecodeTimes
    }

    mutating func read(_ bytes: Span<UInt8>) throws(DecodingError) -> DemuxedSegment {
        remainingSampleSize = bytes.count
        remainingEncryptionListSize = bytes.count
        result.container = .isoBaseMedia
        result.tracks = initialization.trackOrder.compactMap { initialization.tracks[$0]?.format }
        for (id, track) in initialization.tracks {
            guard let protection = track.protection, let key else { continue }
            decryptions[id] = try CommonEncryptionDecryptor(protection, key: key)
        }
        var boxes = BoxIterator(0..<bytes.count, in: bytes)
        var hasFragment = false
        var end = 0
        var zeroCount = 0
        var endsWithinBox = false
        while let box = boxes.next(bytes) {
            end = box.range.upperBound
            if box.isTruncated {
                result.recordProblem("the segment ends within a box")
                endsWithinBox = true
            }
            switch box.type {
            case .moof:
                hasFragment = true
                try readFragment(box, bytes)
            case .emsg: readEventMessage(box, bytes)
            case _ where box.type.value == 0: zeroCount += box.range.count
            default: break
            }
        }
        result.isTruncated = endsWithinBox && hasSeveralSamples
        result.byteLoss.add(zeroCount + bytes.count - end, of: bytes.count)
        if !hasFragment { result.recordProblem("the segment contains no movie fragment") }
        if end < bytes.count { result.recordProblem("\(bytes.count - end) bytes at the end are not a box") }
        appendEventMessages()
        return result
    }

    /// A Boolean value that indicates whether more than one sample was read.
    ///
    /// The byte range of a key frame for trick play ends after it, whatever the fragment declares.
    private var hasSeveralSamples: Bool { result.packets.count > 1 }

    // MARK: Fragments

    private mutating func readFragment(_ moof: Box, _ bytes: Span<UInt8>) throws(DecodingError) {
        // Without a data offset, the data of a track fragment follows that of the previous one (§8.8.7.1).
        var nextData = moof.range.lowerBound
        var children = BoxIterator(moof.payload, in: bytes)
        while let child = children.next(bytes) {
            if child.type == .traf { try readTrackFragment(child, moof: moof, nextData: &nextData, bytes: bytes) }
        }
    }

    private mutating func readTrackFragment(
        _ traf: Box,
        moof: Box,
        nextData: inout Int,
        bytes: Span<UInt8>
    ) throws(DecodingError) {
        let fragment: TrackFragment
        do throws(MediaFormatError) {
            fragment = try TrackFragment(traf, bytes) { [initialization] in initialization.tracks[$0]?.defaults }
        } catch {
            result.recordProblem("the header of a movie fragment is truncated")
            return
        }
        guard let track = initialization.tracks[fragment.trackID] else {
            result.recordProblem("a movie fragment belongs to a track that the initialization does not declare")
            return
        }
        var samples = SamplePosition(
            track: track,
            trackID: fragment.trackID,
            time: fragment.baseDecodeTime.map { Int64(clamping: $0) } ?? nextDecodeTimes[fragment.trackID] ?? 0,
            data: fragment.dataOrigin(fragment: moof.range.lowerBound, previousEnd: nextData),
            encryptions: track.protection.map { sampleEncryptions(in: traf, protection: $0, moof: moof, bytes: bytes) }
                ?? SampleEncryptionReader()
        )
        let origin = samples.data
        try fragment.forEachRun(bytes) { run throws(DecodingError) in
            try readRun(run, origin: origin, position: &samples, bytes: bytes)
        }
        remainingEncryptionListSize -= samples.encryptions.readSize
        nextDecodeTimes[fragment.trackID] = samples.time
        nextData = samples.data
    }

    /// The current position in a track fragment.
    private struct SamplePosition {
        let track: MovieInitialization.Track
        let trackID: UInt32
        /// The decode time of the next sample, in units of the track timescale.
        var time: Int64
        /// The offset of the data of the next sample in the segment.
        var data: Int
        var encryptions: SampleEncryptionReader
        /// A Boolean value that indicates whether samples exceed the end of the segment.
        var isAfterEnd = false
    }

    private mutating func readRun(
        _ run: TrackRun?,
        origin: Int,
        position samples: inout SamplePosition,
        bytes: Span<UInt8>
    ) throws(DecodingError) {
        if let offset = run?.dataOffset {
            let (position, overflow) = origin.addingReportingOverflow(Int(offset))
            samples.data = overflow ? Int.max / 2 : position
        }
        guard let run, samples.data >= 0 else {
            result.recordProblem("a track run is truncated")
            return
        }
        // A run without per-sample fields could declare billions of empty samples.
        if run.hasOnlyDefaults, run.first(bytes)?.size ?? 0 == 0 { return }
        let runStart = samples.time
        samples.isAfterEnd = false
        let end = try run.forEachSample(bytes) { sample throws(DecodingError) in
            try readSample(sample, position: &samples, bytes: bytes)
        }
        if samples.isAfterEnd {
            let runEnd = runStart.addingSaturated(run.duration(bytes))
            if hasSeveralSamples { recordLostRange(from: samples.time, to: runEnd, of: samples) }
            // The data of further runs follow those that are missing.
            samples.data = Int.max / 2
            samples.time = runEnd
        }
        if end == .truncated { result.recordProblem("a track run is truncated") }
    }

    /// Reads a sample.
    ///
    /// - Returns: A Boolean value that indicates whether to continue with the next sample.
    private mutating func readSample(
        _ sample: TrackRun.Sample,
        position samples: inout SamplePosition,
        bytes: Span<UInt8>
    ) throws(DecodingError) -> Bool {
        guard result.packets.count < SegmentDemuxer.maximumPacketCount else {
            result.recordProblem("the segment has more than \(SegmentDemuxer.maximumPacketCount) packets")
            return false
        }
        let size = Int(sample.size)
        let encryption = samples.encryptions.next(bytes)
        guard samples.data <= bytes.count, size <= bytes.count - samples.data, size <= remainingSampleSize else {
            result.recordProblem("samples exceed the end of the segment")
            samples.isAfterEnd = true
            return false
        }
        if size > 0 {
            let data = bytes.extracting(samples.data..<samples.data + size)
            recordLoss(of: data, duration: sample.duration, position: samples)
            try appendPacket(data, sample: sample, position: samples, encryption: encryption)
        }
        samples.data += size
        remainingSampleSize -= size
        samples.time = samples.time.addingReportingOverflow(Int64(sample.duration)).partialValue
        return true
    }

    /// Counts a sample, and whether it is lost: compressed samples, encrypted or not, never consist of zeros.
    private mutating func recordLoss(of data: Span<UInt8>, duration: UInt32, position samples: SamplePosition) {
        let track = samples.track.format
        guard track.isCompressed else { return }
        var index = 0
        while index < data.count, data[index] == 0 { index += 1 }
        let isLost = index == data.count && data.count >= Self.minimumZeroSampleSize
        result.sampleLosses[track.id, default: MediaLoss()].add(isLost ? 1 : 0, of: 1)
        guard isLost else { return }
        recordLostRange(from: samples.time, to: samples.time.addingSaturated(Int64(duration)), of: samples)
    }

    /// Records that samples between two decode times are lost, in units of the track timescale.
    private mutating func recordLostRange(from start: Int64, to end: Int64, of samples: SamplePosition) {
        let format = samples.track.format
        let range = MediaTimeRange(
            start: format.mediaTime(ofTimestamp: start.addingSaturated(samples.track.editOffset)),
            end: format.mediaTime(ofTimestamp: end.addingSaturated(samples.track.editOffset))
        )
        result.recordLostRange(range, ofTrack: format.id)
    }

    private mutating func appendPacket(
        _ data: Span<UInt8>,
        sample: TrackRun.Sample,
        position samples: SamplePosition,
        encryption: SampleEncryption?
    ) throws(DecodingError) {
        let track = samples.track
        if track.protection != nil, decryptions[samples.trackID] == nil {
            throw DecodingError(status: .encrypted, operation: "the samples are encrypted, and no key is available")
        }
        let packet = try unsafe PacketBuilder.makePacket(data)
        if let decryption = decryptions[samples.trackID], let encryption, let data = unsafe packet.pointee.data {
            let bytes = unsafe UnsafeMutableRawBufferPointer(start: data, count: Int(packet.pointee.size))
            if unsafe !decryption.decrypt(bytes, encryption) {
                result.recordProblem("the encryption parameters of a sample do not match its size")
            }
        } else if track.protection != nil {
            result.recordProblem("a sample has no encryption parameters")
        }
        let decode = samples.time.addingReportingOverflow(track.editOffset).partialValue
        unsafe packet.pointee.dts = decode
        unsafe packet.pointee.pts = decode.addingReportingOverflow(Int64(sample.compositionOffset)).partialValue
        unsafe packet.pointee.duration = Int64(sample.duration)
        let isKey = track.format.kind != .video || sample.isSync ?? true
        if isKey { unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY }
        if track.format.kind == .audio, track.editOffset < 0 {
            unsafe PacketBuilder.trimBeforeZero(packet, format: track.format)
        }
        let wrapped = unsafe MediaPacket(owning: packet, trackID: Int(samples.trackID), timeBase: track.format.timeBase)
        segmentStart = min(segmentStart ?? wrapped.presentationTime, wrapped.presentationTime)
        result.packets.append(wrapped)
    }

    // MARK: Encryption

    /// Returns the encryption parameters of the samples: the entries of `senc`, or without it those that `saiz` and
    /// `saio` locate.
    private func sampleEncryptions(
        in traf: Box,
        protection: SampleProtection,
        moof: Box,
        bytes: Span<UInt8>
    ) -> SampleEncryptionReader {
        var list = SampleEncryptionReader()
        list.initializationVectorSize = Int(protection.initializationVectorSize)
        list.maximumSize = max(0, remainingEncryptionListSize)
        if let box = traf.firstChild(.senc, in: bytes) {
            list.readSenc(box, bytes)
        } else if let sizes = traf.firstChild(.saiz, in: bytes), let positions = traf.firstChild(.saio, in: bytes) {
            list.readSaiz(sizes, saio: positions, moof: moof, bytes: bytes)
        }
        return list
    }

    // MARK: Event messages

    private mutating func readEventMessage(_ box: Box, _ bytes: Span<UInt8>) {
        guard eventMessages.count < 10_000 else { return }
        guard let message = try? EventMessage(bytes, at: box.range.lowerBound) else {
            result.recordProblem("an event message cannot be parsed")
            return
        }
        eventMessages.append(message)
    }

    private mutating func appendEventMessages() {
        for message in eventMessages {
            let time: MediaTime
            switch message.time {
            case .afterSegmentStart(let delta): time = (segmentStart ?? .zero) + delta
            case .presentation(let absolute): time = absolute
            }
            result.metadata.append(
                TimedMetadata(
                    kind: .eventMessage,
                    time: time,
                    duration: message.duration,
                    scheme: message.schemeIdentifier,
                    value: message.value,
                    id: message.id,
                    payload: message.message
                )
            )
        }
    }
}
