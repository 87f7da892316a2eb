import MediaTiming
import ResourceAddressing

/// What an entry of the cache answers: an address byte for byte, and which bytes of it.
struct EntryKey: Sendable, Hashable {
    let address: ResourceAddress
    /// `nil` for the whole resource.
    let byteRange: ByteRange?

    /// Where the entry is found; two keys may share it, so the key is written into the entry too.
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

/// The short name of a key.
struct EntryName: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}
