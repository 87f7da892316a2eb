import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat

/// A reader for the samples of movie fragments, `moof` and `mdat` (ISO/IEC 14496-12 §8.8).
///
/// FFmpeg's own reader prefers the presentation times of `sidx` to the decode times of `tfdt`, needs the initialization
/// again for each segment, and does not support all protection schemes.
struct FragmentReading {
    let initialization: MovieInitialization
    let key: SampleKey?
    /// The decode times of the next samples of tracks whose fragments lack `tfdt`, in units of the track timescale.
    var nextTimes: [UInt32: Int64]

    private var result = DemuxedSegment()
    private var decryptions: [UInt32: CommonDecryption] = [:]
    private var segmentStart: MediaTime?
    /// The number of bytes that further samples may have.
    ///
    /// Samples do not overlap, so they are not larger than the segment in total.
    private var unusedBytes = 0
    /// The number of bytes that may still be read as sample encryption entries, because several fragments may refer to
    /// the same entries.
    private var unusedListBytes = 0
    private var messages: [EventMessage] = []

    init(_ initialization: MovieInitialization, key: SampleKey?, nextTimes: [UInt32: Int64]) {
        self.initialization = initialization
        self.key = key
        self.nextTimes = nextTimes
    }

    mutating func read(_ bytes: Span<UInt8>) throws(DecodingError) -> DemuxedSegment {
        unusedBytes = bytes.count
        unusedListBytes = bytes.count
        result.container = .isoBaseMedia
        result.tracks = initialization.order.compactMap { initialization.tracks[$0]?.format }
        for (id, track) in initialization.tracks {
            guard let protection = track.protection, let key else { continue }
            decryptions[id] = try CommonDecryption(protection, key: key)
        }
        var boxes = BoxWalker(0..<bytes.count, in: bytes)
        var hasFragment = false
        var end = 0
        while let box = boxes.next(bytes) {
            end = box.range.upperBound
            if box.isCut { result.note("the segment ends inside of a box") }
            switch box.type {
            case .moof:
                hasFragment = true
                try readFragment(box, bytes)
            case .emsg: readMessage(box, bytes)
            default: break
            }
        }
        if !hasFragment { result.note("the segment has no fragment") }
        if end < bytes.count { result.note("\(bytes.count - end) bytes are no box") }
        addMessages()
        return result
    }

    // MARK: Fragments

    private mutating func readFragment(_ moof: Box, _ bytes: Span<UInt8>) throws(DecodingError) {
        // Without a data offset, the data of a track fragment follows that of the previous one (§8.8.7.1).
        var nextData = moof.range.lowerBound
        var children = BoxWalker(moof.payload, in: bytes)
        while let child = children.next(bytes) {
            if child.type == .traf { try readTrackFragment(child, moof, &nextData, bytes) }
        }
    }

    private mutating func readTrackFragment(
        _ traf: Box,
        _ moof: Box,
        _ nextData: inout Int,
        _ bytes: Span<UInt8>
    ) throws(DecodingError) {
        let fragment: TrackFragment
        do throws(MediaFormatError) {
            fragment = try TrackFragment(traf, bytes) { [initialization] in initialization.tracks[$0]?.defaults }
        } catch {
            result.note("the header of a fragment is cut")
            return
        }
        guard let track = initialization.tracks[fragment.trackID] else {
            result.note("a fragment belongs to a track that the initialization does not name")
            return
        }
        var samples = SampleReading(
            track: track,
            trackID: fragment.trackID,
            time: fragment.baseDecodeTime.map { Int64(clamping: $0) } ?? nextTimes[fragment.trackID] ?? 0,
            data: fragment.dataOrigin(fragment: moof.range.lowerBound, previousEnd: nextData),
            encryptions: track.protection.map { encryptions(in: traf, $0, moof, bytes) } ?? SampleEncryptions()
        )
        let origin = samples.data
        try fragment.forEachRun(bytes) { run throws(DecodingError) in
            try read(run, origin: origin, &samples, bytes)
        }
        unusedListBytes -= samples.encryptions.bytesRead
        nextTimes[fragment.trackID] = samples.time
        nextData = samples.data
    }

    /// The current position in a track fragment.
    private struct SampleReading {
        let track: MovieInitialization.Track
        let trackID: UInt32
        /// The decode time of the next sample, in units of the track timescale.
        var time: Int64
        /// The offset of the data of the next sample in the segment.
        var data: Int
        var encryptions: SampleEncryptions
    }

    private mutating func read(
        _ run: TrackRun?,
        origin: Int,
        _ samples: inout SampleReading,
        _ bytes: Span<UInt8>
    ) throws(DecodingError) {
        if let offset = run?.dataOffset {
            let (place, overflow) = origin.addingReportingOverflow(Int(offset))
            samples.data = overflow ? Int.max / 2 : place
        }
        guard let run, samples.data >= 0 else {
            result.note("a list of samples is cut")
            return
        }
        // A run without per-sample fields could declare billions of empty samples.
        if run.hasOnlyDefaults, run.first(bytes)?.size ?? 0 == 0 { return }
        let end = try run.forEachSample(bytes) { sample throws(DecodingError) in
            try read(sample, &samples, bytes)
        }
        if end == .cut { result.note("a list of samples is cut") }
    }

    /// Reads a sample.
    ///
    /// - Returns: A Boolean value that indicates whether to continue with the next sample.
    private mutating func read(
        _ sample: TrackRun.Sample,
        _ samples: inout SampleReading,
        _ bytes: Span<UInt8>
    ) throws(DecodingError) -> Bool {
        guard result.packets.count < SegmentDemuxer.mostPackets else {
            result.note("the segment has more than \(SegmentDemuxer.mostPackets) packets")
            return false
        }
        let size = Int(sample.size)
        let encryption = samples.encryptions.next(bytes)
        guard samples.data <= bytes.count, size <= bytes.count - samples.data, size <= unusedBytes else {
            result.note("samples lie behind the end of the segment")
            return false
        }
        if size > 0 {
            let data = bytes.extracting(samples.data..<samples.data + size)
            try addPacket(data, sample, samples, encryption)
        }
        samples.data += size
        unusedBytes -= size
        samples.time = samples.time.addingReportingOverflow(Int64(sample.duration)).partialValue
        return true
    }

    private mutating func addPacket(
        _ data: Span<UInt8>,
        _ sample: TrackRun.Sample,
        _ samples: SampleReading,
        _ encryption: SampleEncryption?
    ) throws(DecodingError) {
        let track = samples.track
        if track.protection != nil, decryptions[samples.trackID] == nil {
            throw DecodingError(.encrypted, "samples are encrypted, and there is no key")
        }
        let packet = try unsafe PacketBuilding.packet(data)
        if let decryption = decryptions[samples.trackID], let encryption, let data = unsafe packet.pointee.data {
            let bytes = unsafe UnsafeMutableRawBufferPointer(start: data, count: Int(packet.pointee.size))
            if unsafe !decryption.decrypt(bytes, encryption) { result.note("a sample is not encrypted as it says") }
        } else if track.protection != nil {
            result.note("a sample does not say how it is encrypted")
        }
        let decode = samples.time.addingReportingOverflow(track.editOffset).partialValue
        unsafe packet.pointee.dts = decode
        unsafe packet.pointee.pts = decode.addingReportingOverflow(Int64(sample.compositionOffset)).partialValue
        unsafe packet.pointee.duration = Int64(sample.duration)
        let isKey = track.format.kind != .video || sample.isSync ?? true
        if isKey { unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY }
        if track.format.kind == .audio, track.editOffset < 0 {
            unsafe PacketBuilding.trimBeforeZero(packet, track.format)
        }
        let wrapped = unsafe MediaPacket(owning: packet, trackID: Int(samples.trackID), timeBase: track.format.timeBase)
        segmentStart = min(segmentStart ?? wrapped.presentationTime, wrapped.presentationTime)
        result.packets.append(wrapped)
    }

    // MARK: Encryption

    /// Returns the encryption parameters of the samples: the entries of `senc`, or without it those that `saiz` and
    /// `saio` locate.
    private func encryptions(
        in traf: Box,
        _ protection: SampleProtection,
        _ moof: Box,
        _ bytes: Span<UInt8>
    ) -> SampleEncryptions {
        var list = SampleEncryptions()
        list.vectorLength = Int(protection.vectorLength)
        list.mostBytes = max(0, unusedListBytes)
        if let box = traf.child(.senc, bytes) {
            list.read(box, bytes)
        } else if let sizes = traf.child(.saiz, bytes), let places = traf.child(.saio, bytes) {
            list.read(sizes: sizes, places: places, in: moof, bytes)
        }
        return list
    }

    // MARK: Event messages

    private mutating func readMessage(_ box: Box, _ bytes: Span<UInt8>) {
        guard messages.count < 10_000 else { return }
        guard let message = try? EventMessage(bytes, at: box.range.lowerBound) else {
            result.note("an event message cannot be read")
            return
        }
        messages.append(message)
    }

    private mutating func addMessages() {
        for message in messages {
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
