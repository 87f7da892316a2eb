import HLSPlaylist
import HTTPTypes
import MediaTransport
import PlaylistEditing
import PresentationLoading
import ResourceAddressing

/// The loading of playlists of an origin: bytes are counted against a budget, and parsed on worker threads.
struct OriginPlaylistLoader: PlaylistLoader {
    let loader: ResourceLoader
    let workers: EditWorkers
    /// The DASH presentations that are translated; `nil` to refuse manifests.
    var presentations: PresentationStore?
    /// The playlists that are loaded for the current request; `nil` to load each playlist anew.
    var session: LoadSession?

    func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
        let address = ResourceAddress(source)
        return try await parse(
            try await bytes(at: address, budget: budget),
            from: address,
            variables: variables,
            budget: budget
        )
    }

    func bytes(at address: ResourceAddress, budget: EditBudget) async throws -> ResourceLoader.Loaded {
        if let session {
            let loaded = try await session.resource(at: address, presentations).loaded
            try budget.receive(loaded.bytes.count)
            return loaded
        }
        // Manifests and segment indexes count against the budget too.
        let metered = loader.wrappingTransport { MeteredTransport(DocumentTransport($0)) { try budget.receive($0) } }
        let loader = presentations.map { metered.translatingPresentations(in: $0) } ?? metered
        return try await loader.load(TransportRequest(address, kind: .playlist), limit: budget.limits.loadedBytes)
    }

    func parse(
        _ loaded: ResourceLoader.Loaded,
        from address: ResourceAddress,
        variables: [String: String],
        budget: EditBudget
    ) async throws -> Playlist {
        let limits = budget.limits.loadedPlaylist
        var context = PlaylistContext(address: loaded.address, importableVariables: variables)
        // An edit can insert local playlists, so that this one is verified before.
        context.mayNameFiles = true
        do {
            let (playlist, reason) = try await workers.run { [context] _ in
                let playlist = try Playlist.parseUnlessCanceled(loaded.bytes, context: context, limits: limits).get()
                // An edited playlist has another URL, so that the parameter could not be added afterwards.
                if case .multivariant(let multivariant) = playlist { try multivariant.checkParameters() }
                return (playlist, playlist.refusalReason)
            }
            if let reason {
                let code = PlaylistParsingError.Code.notAPlaylist.rawValue
                throw ServerError(.badGateway, code, "\(address): \(reason)")
            }
            return playlist
        } catch let error as PlaylistParsingError {
            // A DASH manifest without the bridge, a movie or a transport stream is valid but not supported here; all
            // else is an error of the origin.
            switch error {
            case .notAPlaylist(.dashManifest):
                throw ServerError(
                    .unsupportedMediaType,
                    error.code.rawValue,
                    "\(address): \(error)",
                    hint: "the DASH bridge, which translates manifests, is turned off"
                )
            case .notAPlaylist(.mp4), .notAPlaylist(.transportStream):
                throw ServerError(.unsupportedMediaType, error.code.rawValue, "\(address): \(error)")
            case .limitExceeded:
                throw ServerError(.contentTooLarge, error.code.rawValue, "\(address): \(error)")
            case .notAPlaylist, .unexpectedKind, .undeclaredImport, .missingQueryParameter:
                throw ServerError(.badGateway, error.code.rawValue, "\(address): \(error)", hint: error.hint)
            }
        }
    }
}
