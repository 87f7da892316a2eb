public import AssetStorage
import HLSPlaylist
import MediaTiming

/// An audio or subtitles option of a stored asset that is not stored yet, with the selection that downloads it.
public struct NextMediaSelection: Sendable, Hashable {
    /// A kind of media that the option has.
    public enum Characteristic: String, Sendable, Hashable {
        /// Audio.
        case audible
        /// Subtitles.
        case legible
    }

    /// The kind of media.
    public let characteristic: Characteristic
    /// The language of the option (RFC 5646); `nil` if the playlist does not name one.
    public let language: String?
    /// The name of the option for the user interface.
    public let name: String
    /// The selection for a further download of the asset: the variants that were chosen before, and only this option.
    public let selection: DownloadSelection
}

extension AssetLibrary {
    /// Returns the next option of an asset that is not stored: first audio, then subtitles, each in the order of the
    /// playlist.
    ///
    /// A task with the returned selection fetches only this option. After it is complete, this method returns the option
    /// after it.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The option; `nil` if all options of the stored variants are stored.
    /// - Throws: `StorageError` if the library does not have the asset.
    public func nextMediaSelection(of id: String) throws -> NextMediaSelection? {
        let missing = try offeredRenditions(of: id).filter { !$0.isStored }.map(\.rendition)
        guard let next = missing.first(where: { $0.type == .audio }) ?? missing.first else { return nil }
        var selection = try DownloadSelection(asset(id).selection) ?? DownloadSelection()
        let option = DownloadSelection.Languages.some(["\(next.language ?? ""):\(next.name)"])
        selection.audio = next.type == .audio ? option : .none
        selection.subtitles = next.type == .audio ? .none : option
        return NextMediaSelection(
            characteristic: next.type == .audio ? .audible : .legible,
            language: next.language,
            name: next.name,
            selection: selection
        )
    }
}
