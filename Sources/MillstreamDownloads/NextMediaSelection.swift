public import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport

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
    /// The selection for a further download of the asset: variants that are stored, and only this option.
    public let selection: DownloadSelection
}

extension AssetLibrary {
    /// Returns the next option of an asset that is not stored: first audio, then subtitles, each in the order of the
    /// playlist.
    ///
    /// A task with the returned selection fetches only this option. After it is complete, this method returns the option
    /// after it. An option that no selection can choose for the stored variants alone is left out.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The option; `nil` if all options of the stored variants are stored.
    /// - Throws: `StorageError` if the library does not have the asset.
    public func nextMediaSelection(of id: String) throws -> NextMediaSelection? {
        let last = try DownloadSelection(asset(id).selection) ?? DownloadSelection()
        guard let offered = try offeredRenditions(of: id) else { return nil }
        let missing = offered.entries.filter { !$0.isStored }
        let ordered = missing.filter { $0.rendition.type == .audio } + missing.filter { $0.rendition.type != .audio }
        for entry in ordered {
            guard let selection = offered.selection(of: entry, preferring: last) else { continue }
            return NextMediaSelection(
                characteristic: entry.rendition.type == .audio ? .audible : .legible,
                language: entry.rendition.language,
                name: entry.rendition.name,
                selection: selection
            )
        }
        return nil
    }
}

extension OfferedRenditions {
    /// Returns a selection of one rendition that chooses no variant that is not stored; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - entry: The rendition.
    ///   - last: The last selection of the asset, which is used if no selection of one stored variant chooses the rendition.
    /// - Returns: The selection.
    fileprivate func selection(of entry: Entry, preferring last: DownloadSelection) -> DownloadSelection? {
        guard let type = entry.rendition.type else { return nil }
        var selection = last
        let option = DownloadSelection.Languages.some(["\(entry.rendition.language ?? ""):\(entry.rendition.name)"])
        selection.audio = type == .audio ? option : .none
        selection.subtitles = type == .audio ? .none : option
        let former = selection
        var candidates: [DownloadSelection] = []
        for position in variants where source.variants[position].groupID(type) == entry.rendition.groupID {
            // Only the rendition is selected, for the variant that has these attributes.
            selection.variants = .none
            selection.qualifiers = Self.qualifiers(of: source.variants[position])
            (selection.prefersLosslessAudio, selection.prefersMultichannelAudio) = (false, false)
            candidates.append(selection)
        }
        // A selection of a stored variant chooses it whatever codecs can be decoded.
        return (candidates + [former]).first { chooses(entry, $0) }
    }

    private static func qualifiers(of variant: Variant) -> [VariantQualifier] {
        var qualifiers: [VariantQualifier] = []
        if let rate = variant.bandwidth { qualifiers.append(.peakBitRate(.equal, rate)) }
        if let resolution = variant.resolution {
            qualifiers += [.width(.equal, resolution.width), .height(.equal, resolution.height)]
        }
        if let range = variant.videoRange { qualifiers.append(.videoRange(range)) }
        return qualifiers + variant.codecs.map { .codec($0) }
    }

    /// Returns a Boolean value that indicates whether a selection chooses a rendition, and only variants that are stored.
    private func chooses(_ entry: Entry, _ selection: DownloadSelection) -> Bool {
        // The resolver loads nothing to choose from a playlist.
        let resolver = DownloadResolver(loader: ResourceLoader(FileTransport()), selection: selection)
        guard let choices = try? resolver.choose(from: source) else { return false }
        return choices.allSatisfy { $0.role != .variant || variants.contains($0.position) }
            && choices.contains { choice in
                [.audio, .subtitles].contains(choice.role)
                    && (choice.position == entry.position || choice.aliases.contains(entry.position))
            }
    }
}
