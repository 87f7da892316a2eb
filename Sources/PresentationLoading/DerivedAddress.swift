package import ResourceAddressing

/// The address of a media playlist that a manifest is translated to: the URL of the manifest with a fragment.
///
/// A fragment is never sent to a server (RFC 3986 §3.5), so that these addresses cannot collide with resources of the
/// origin, and every guard for the URL of the manifest is one for them too.
package struct DerivedAddress: Sendable, Hashable {
    /// The text before the file name in the fragment; not a parameter of manifest anchors (ISO/IEC 23009-1 Annex C.4).
    private static let prefix = "millstream-playlist="

    /// The URL of the manifest, without a fragment.
    package let manifest: ResourceAddress
    /// The file name of the playlist.
    package let fileName: String

    /// Creates the address of a playlist.
    package init(manifest: ResourceAddress, fileName: String) {
        self.manifest = manifest.withoutFragment
        self.fileName = fileName
    }

    /// Creates the parsed form of an address; `nil` if it is not the address of a derived playlist.
    package init?(_ address: ResourceAddress) {
        // The bytes are compared, because a combining character at the beginning of the name would join the prefix.
        guard let fragment = address.fragment, fragment.utf8.starts(with: Self.prefix.utf8) else { return nil }
        manifest = address.withoutFragment
        fileName = String(Substring(fragment.utf8.dropFirst(Self.prefix.utf8.count)))
    }

    /// The address as one URL.
    package var address: ResourceAddress { ResourceAddress("\(manifest.text)#\(Self.prefix)\(fileName)") }
}

extension ResourceAddress {
    /// The address without its fragment.
    var withoutFragment: ResourceAddress {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return self }
        return ResourceAddress(String(text[..<mark]))
    }
}
