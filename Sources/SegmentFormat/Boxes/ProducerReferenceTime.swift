import MediaTiming

/// A producer reference time box, `prft`, which relates media time to the producer's wall clock (ISO/IEC 14496-12
/// §8.16.5).
package struct ProducerReferenceTime: Sendable, Hashable {
    /// The ID of the track to which the media time applies.
    package let trackID: UInt32
    /// The wall-clock time in NTP format: seconds since 1900-01-01 UTC in the upper half, 2^-32 s in the lower (RFC
    /// 5905 §6).
    package let ntpTimestamp: UInt64
    /// The media time that corresponds to the wall-clock time, in units of the track's timescale.
    package let mediaTime: UInt64
    /// The event at which the clock was read: 0 for input to the encoder, 24 for capture.
    package let flags: UInt32

    /// The wall-clock time since 1970-01-01 UTC.
    package var timeSinceUnixEpoch: Duration {
        let seconds = Int64(clamping: ntpTimestamp >> 32) -| 2_208_988_800
        let nanoseconds = Int64(clamping: ((ntpTimestamp & 0xFFFF_FFFF) *| 1_000_000_000) >> 32)
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }

    /// Creates a reference time from the `prft` box at `offset`.
    ///
    /// Throws ``MediaFormatError`` if there is no complete `prft` box at the offset.
    package init(_ bytes: Span<UInt8>, at offset: Int = 0) throws(MediaFormatError) {
        var walker = BoxIterator(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .prft else { throw .missing("prft") }
        var (version, flags, cursor) = box.fullBoxFields(in: bytes)
        trackID = cursor.readUInt32(bytes)
        ntpTimestamp = cursor.readUInt64(bytes)
        mediaTime = cursor.readUnsigned(version == 0 ? 4 : 8, bytes)
        self.flags = flags
        guard !cursor.isPastEnd else { throw .truncated("prft") }
    }
}
