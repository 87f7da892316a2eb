/// The audio frames of a segment whose samples are encrypted with the method `SAMPLE-AES`.
///
/// The frames are those of packed audio, or of the first encrypted audio stream of a transport stream. They are
/// encrypted by the rules of Apple's "MPEG-2 Stream Encryption Format for HTTP Live Streaming". In movie fragments, the
/// frames are the samples of the first audio track that is encrypted with the scheme `cbcs` (ISO/IEC 23001-7 §10.4) and
/// with one initialization vector for all samples.
package struct SampleEncryptedAudio: Sendable, Hashable {
    /// An audio frame.
    package struct Frame: Sendable, Hashable {
        /// The format of the frame: ``MediaContainer/aac``, `ac3` or `enhancedAC3`.
        package let container: MediaContainer
        /// The bytes of the frame, including its header.
        package let bytes: [UInt8]
        /// The number of clear bytes before the first encrypted block; at most the number of ``bytes``.
        ///
        /// The bytes after the last whole block are clear too.
        package let clearCount: Int
    }

    /// The frames, in their order.
    package let frames: [Frame]
    /// The initialization vector that the media declares, 8 or 16 bytes; `nil` for that of the playlist.
    package let vector: [UInt8]?

    /// The number of clear bytes after the header of an AAC frame, or from the start of an AC-3 frame.
    private static let clearLeadSize = 16

    /// Creates the frames of a segment, or `nil` if it has no audio that can be encrypted in this way.
    ///
    /// - Parameters:
    ///   - bytes: The beginning of the segment.
    ///   - maximumFrameCount: The maximum number of frames that are read.
    /// - Complexity: O(*n*) in the number of bytes.
    package init?(_ bytes: Span<UInt8>, maximumFrameCount: Int) {
        vector = nil
        guard let container = MediaContainer(bytes) else { return nil }
        if container == .transportStream {
            guard let stream = Self.elementaryStream(in: bytes) else { return nil }
            frames = Self.frames(in: stream.span, from: 0, atMost: maximumFrameCount)
        } else if container.isPackedAudio {
            frames = Self.frames(in: bytes, from: ID3Tag.endOffset(in: bytes), atMost: maximumFrameCount)
        } else {
            return nil
        }
        guard !frames.isEmpty else { return nil }
    }

    /// Creates the frames of movie fragments, or `nil` if they have no audio that is encrypted entirely with one vector.
    ///
    /// - Parameters:
    ///   - bytes: The beginning of the segment.
    ///   - movie: The initialization section.
    ///   - maximumFrameCount: The maximum number of frames that are read.
    package init?(_ bytes: Span<UInt8>, movie: Movie, maximumFrameCount: Int) {
        guard let (track, protection, container) = Self.encryptedTrack(of: movie),
            !Self.hasSubsamples(in: bytes, ofTrack: track.id)
        else { return nil }
        var frames: [Frame] = []
        for sample in FragmentSample.samples(in: bytes, movie: movie, trackID: track.id).prefix(maximumFrameCount) {
            frames.append(Frame(container: container, bytes: bytes.byteArray(in: sample.bytes), clearCount: 0))
        }
        guard !frames.isEmpty else { return nil }
        self.frames = frames
        let constant = protection.constantInitializationVector
        vector = constant.isEmpty ? nil : constant
    }

    /// Returns the first audio track whose samples are encrypted without a pattern and with one vector; `nil` if there is none.
    private static func encryptedTrack(
        of movie: Movie
    ) -> (track: Movie.Track, protection: SampleProtection, container: MediaContainer)? {
        for track in movie.tracks where track.mediaType == .audio && track.sampleEntries.count == 1 {
            guard let entry = track.sampleEntries.first, let protection = entry.protection,
                let scheme = protection.scheme, scheme == "cbcs", protection.isProtectedByDefault,
                protection.initializationVectorSize == 0, protection.pattern?.skippedBlockCount ?? 0 == 0,
                let container = container(ofCodec: entry.codec)
            else { continue }
            return (track, protection, container)
        }
        return nil
    }

    /// Returns the format of the frames of a codec; `nil` for a codec whose frames are not recognized.
    private static func container(ofCodec codec: String) -> MediaContainer? {
        switch codec {
        case "mp4a.40.2", "mp4a.40.5", "mp4a.40.29": .aac
        case "ac-3": .ac3
        case "ec-3": .enhancedAC3
        default: nil
        }
    }

    /// Returns a Boolean value that indicates whether parts of the samples of a track are clear, or may be.
    private static func hasSubsamples(in bytes: Span<UInt8>, ofTrack id: UInt32) -> Bool {
        var boxes = BoxIterator(0..<bytes.count, in: bytes)
        while let box = boxes.next(bytes) {
            guard box.type == .moof else { continue }
            var children = BoxIterator(box.payload, in: bytes)
            while let child = children.next(bytes) {
                guard child.type == .traf, let header = child.firstChild(.tfhd, in: bytes) else { continue }
                var (_, _, cursor) = header.fullBoxFields(in: bytes)
                guard cursor.readUInt32(bytes) == id else { continue }
                guard let list = child.firstChild(.senc, in: bytes) else {
                    if child.firstChild(.saiz, in: bytes) != nil { return true }
                    continue
                }
                let (_, flags, _) = list.fullBoxFields(in: bytes)
                if flags & 2 != 0 { return true }
            }
        }
        return false
    }

    private static func frames(in bytes: Span<UInt8>, from start: Int, atMost maximumCount: Int) -> [Frame] {
        var frames: [Frame] = []
        var offset = start
        while frames.count < maximumCount, offset < bytes.count {
            let distance = bytes.count - offset
            guard let (first, header) = AudioFrameHeader.firstFrame(in: bytes, from: offset, within: distance),
                header.frameLength > 0, header.frameLength <= bytes.count - first
            else { break }
            offset = first + header.frameLength
            guard let size = clearSize(of: header, in: bytes, at: first) else { continue }
            frames.append(
                Frame(
                    container: header.container,
                    bytes: bytes.byteArray(in: first..<offset),
                    clearCount: min(size, header.frameLength)
                )
            )
        }
        return frames
    }

    /// Returns the number of clear bytes at the start of a frame; `nil` for a format that is not encrypted in this way.
    private static func clearSize(of header: AudioFrameHeader, in bytes: Span<UInt8>, at offset: Int) -> Int? {
        if header.container == .aac {
            // Without the protection bit, a checksum follows the header.
            return (bytes[offset + 1] & 1 == 0 ? 9 : 7) + clearLeadSize
        }
        return header.container == .ac3 || header.container == .enhancedAC3 ? clearLeadSize : nil
    }

    /// Returns the elementary stream of the first encrypted audio of a transport stream; `nil` if there is none.
    private static func elementaryStream(in bytes: Span<UInt8>) -> [UInt8]? {
        guard let summary = TransportStreamSummary(bytes) else { return nil }
        let streams = summary.programs.flatMap(\.streams)
        guard let stream = streams.first(where: { $0.isSampleEncrypted && $0.mediaType == .audio }) else { return nil }
        var result: [UInt8] = []
        TransportStreamSummary.forEachPacket(in: bytes, summary.layout) { packet, _ in
            guard packet.pid == stream.pid, !packet.isScrambled else { return }
            result += bytes.byteArray(in: mediaRange(of: packet, in: bytes))
        }
        return result
    }

    /// Returns the range of the payload of a packet after the header of a PES packet (ISO/IEC 13818-1 §2.4.3.6).
    private static func mediaRange(of packet: TransportPacket, in bytes: Span<UInt8>) -> Range<Int> {
        let payload = packet.payload
        guard packet.isUnitStart, payload.count >= 9 else { return payload }
        let start = payload.lowerBound
        guard bytes[start] == 0, bytes[start + 1] == 0, bytes[start + 2] == 1 else { return payload }
        // Bounded: the length of the header is the value of one byte.
        return min(start + 9 + Int(bytes[start + 8]), payload.upperBound)..<payload.upperBound
    }
}
