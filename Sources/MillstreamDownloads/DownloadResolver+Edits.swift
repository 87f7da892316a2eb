import HLSPlaylist
import MediaTransport
import PlaylistEditing
import ResourceAddressing

extension DownloadResolver: PlaylistLoader {
    /// Loads a playlist that an edit inserts or compares.
    func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
        let limit = min(playlistSize, budget.limits.loadedBytes)
        let (playlist, _) = try await playlists.load(ResourceAddress(source), variables: variables, limit: limit)
        try budget.receive(playlist.bytes.count)
        return playlist
    }

    /// Returns a playlist of the source after the edits of the selection.
    ///
    /// - Throws: ``DownloadError``, also for edits of the media playlists of a recording, whose later versions would differ.
    func edited(_ playlist: Playlist, at address: ResourceAddress) async throws -> EditedPlaylist {
        guard !acceptsLive || !selection.edits.changesMedia else {
            throw DownloadError(
                .cannotEdit,
                "a recording cannot be edited, except for the choice of its variants and renditions",
                hint: "record the stream, and edit the recording",
                address: address
            )
        }
        return try await edited(limitingAudio(playlist, at: address), selection.edits, at: address)
    }

    /// Returns a playlist without the audio renditions that are not selected, if the edits of the selection remove the video.
    ///
    /// The audio then becomes the media of a variant, which must not be that of another language.
    private func limitingAudio(_ playlist: Playlist, at address: ResourceAddress) throws -> Playlist {
        guard selection.edits.removesVideo, case .some = selection.audio,
            case .multivariant(let multivariant) = playlist
        else { return playlist }
        let audio = multivariant.renditions.filter { $0.type == .audio }
        // A missing language is reported with those that the stream has.
        let languages = selection.audio
        let missing = languages.missing(in: audio.map { (language: $0.language, name: $0.name) })
        guard missing.isEmpty else { return playlist }
        @Sendable func key(_ rendition: Rendition) -> [String] {
            [rendition.groupID, rendition.language ?? "", rendition.name]
        }
        let positions = multivariant.positions(ofType: .audio, in: languages) { $1.isDefault }
        let selected = Set(positions.map { key(multivariant.renditions[$0]) })
        do throws(PlaylistEditError) {
            return .multivariant(
                try multivariant.limitedAudio("audio \(languages)") { selected.contains(key($0)) }
            )
        } catch {
            throw DownloadError(error, address: address)
        }
    }

    /// Returns a playlist after edits.
    private func edited(
        _ playlist: Playlist,
        _ plan: EditPlan,
        at address: ResourceAddress
    ) async throws -> EditedPlaylist {
        do {
            return try await PresentationEditor(plan, loader: self).prepare(playlist).apply()
        } catch let error as PlaylistEditError {
            throw DownloadError(error, address: address)
        }
    }

    /// Returns a media playlist after the edits of an edited presentation that apply to it; `nil` if an I-frame playlist cannot
    /// be edited.
    func edited(
        _ playlist: MediaPlaylist,
        of choice: Choice,
        in presentation: EditedPresentation,
        at address: ResourceAddress
    ) async throws -> MediaPlaylist? {
        let entry: PresentationEntry
        if let variant = choice.variant {
            entry = .variant(variant)
        } else {
            entry = .rendition(presentation.playlist.renditions[choice.position])
        }
        guard let plan = presentation.plan(for: entry), !plan.edits.isEmpty else { return playlist }
        do {
            guard case .media(let edited) = try await edited(.media(playlist), plan, at: address) else { return nil }
            return edited
        } catch is DownloadError where choice.role == .iFrames {
            return nil
        }
    }
}

extension DownloadError {
    /// Creates the error of a download whose playlists cannot be edited.
    init(_ error: PlaylistEditError, address: ResourceAddress) {
        let code: Code =
            switch error.code {
            case .nothingLeft: .nothingSelected
            case .tooLarge: .tooLarge
            case .unknownEdit, .invalidValue, .wrongKind, .timeOutside, .cannotStitch, .notStarted, .notPublished,
                .tooManyEdits, .tooManySources, .unwritableAddress, .unwritableVariable, .unreadableResult, .failed,
                .invalidName:
                .cannotEdit
            }
        self.init(code, error.message, address: address, detail: error.code.rawValue, cause: error)
    }
}
