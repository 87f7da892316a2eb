import MediaTiming
import ResourceAddressing

/// A cache key: a URL, compared byte by byte, and a byte range.
struct EntryKey: Sendable, Hashable {
    let address: ResourceAddress
    /// The byte range; `nil` for the complete resource.
    let byteRange: ByteRange?

    /// The name of the entry, a hash of the key; the entry also stores the key, because two keys may have the same
    /// name.
    var name: EntryName {
        var text = address.text + "\n" + (byteRange?.description ?? "")
        return text.withUTF8 { bytes in
            let raw = UnsafeRawBufferPointer(bytes)
            return EntryName(
                high: BlockChecksum.of(raw),
                low: BlockChecksum.of(raw, seed: ~BlockChecksum.seed)
            )
        }
    }
}

/// The 128-bit hash of a cache key, which is part of a file name.
struct EntryName: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}
