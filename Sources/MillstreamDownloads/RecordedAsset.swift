package import AssetStorage
package import MediaTiming
package import ResourceAddressing

/// A recording in the library that another recording of the same URL continues, because the library has one asset for each URL.
package struct RecordedAsset: Sendable {
    /// The asset of the recording.
    package let asset: StoredAsset
    /// The duration that is recorded; more than zero.
    package let duration: MediaTime

    /// Creates the recording of a URL; `nil` if nothing of it is recorded.
    ///
    /// - Parameters:
    ///   - source: The URL.
    ///   - library: The library with the recording.
    /// - Throws: `StorageError` if the catalog cannot be read.
    package init?(of source: ResourceAddress, in library: AssetLibrary) throws {
        guard let asset = try library.asset(source: source), let duration = asset.duration, duration > .zero,
            (try? library.checkRecording(of: asset.id)) != nil
        else { return nil }
        self.asset = asset
        self.duration = duration
    }

    /// Verifies that a selection is that of the recording of a URL, if something of it is recorded.
    ///
    /// - Parameters:
    ///   - selection: The selection of a recording that would continue it.
    ///   - source: The URL.
    ///   - library: The library with the recording.
    /// - Throws: ``DownloadError/Code/otherSelection`` if it is not; `StorageError` if the catalog cannot be read.
    static func verify(
        _ selection: DownloadSelection,
        of source: ResourceAddress,
        in library: AssetLibrary
    ) throws {
        _ = try RecordedAsset(of: source, in: library)?.selection(for: selection)
    }

    /// Returns the selection with which the recording is continued, which is that of the recording.
    ///
    /// Another selection would record other media playlists, and the part that is recorded already would be in none of them.
    ///
    /// - Parameters:
    ///   - selection: The requested selection.
    ///   - defaults: The selection whose parts count as not requested; `nil` if each part must be that of the recording.
    /// - Returns: The selection of the recording; the requested one if that of the recording is not known.
    /// - Throws: ``DownloadError/Code/otherSelection`` if a requested part differs from the selection of the recording.
    package func selection(
        for selection: DownloadSelection,
        besides defaults: DownloadSelection? = nil
    ) throws(DownloadError) -> DownloadSelection {
        // A selection that another version or another program stored cannot be compared.
        guard !asset.selection.isEmpty, let stored = DownloadSelection(asset.selection) else { return selection }
        guard selection.agrees(with: stored, besides: defaults ?? stored) else {
            throw DownloadError(
                .otherSelection,
                "the recording \(asset.id) of this URL has another selection: \(asset.selectionWithoutSecrets)",
                address: asset.source
            )
        }
        return stored
    }
}

extension StoredAsset {
    /// The text of the selection without keys, user names and passwords, and with shortened values in URLs that may be secrets.
    package var selectionWithoutSecrets: String {
        // The user information of a URL ends at the last @ of the authority (WHATWG URL Standard §4.4).
        selection.replacing(/(edit=key=)[^&]*/) { "\($0.output.1)…" }
            .replacing(/[Hh][Tt][Tt][Pp][Ss]?:\/\/[^&]*/) { Self.shortenedURL(String($0.output)) }
            .replacing(/:\/\/[^\/?#&]*@/, with: "://")
    }

    /// Returns a URL in the text of a selection, in which ampersands and percent signs are percent-encoded, for display.
    private static func shortenedURL(_ text: String) -> String {
        let url = text.replacing("%26", with: "&").replacing("%25", with: "%")
        return ResourceAddress(url).description.replacing("&", with: "%26")
    }
}
