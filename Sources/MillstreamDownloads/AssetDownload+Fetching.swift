import AssetStorage
import MediaTiming
import MediaTransport

extension AssetDownload {
    /// Returns the maximum number of received files that are being synchronized to the disk and committed.
    ///
    /// A process that is killed loses these and the files that it is receiving.
    static func storingCount(receiving count: Int) -> Int { max(1, count / 2) }

    /// Fetches the missing files in directories, or only those that were stored once, until the addresses of some have
    /// expired.
    ///
    /// Segments are not accepted if a verification of keys is given, and their keys do not match.
    func fetchMissing(
        of asset: StoredAsset,
        in folders: Set<String>? = nil,
        verifying verification: KeyVerification? = nil,
        _ meter: ProgressMeter,
        _ renewal: inout DownloadRenewal,
        onlyLost: Bool = false,
        report: @escaping @Sendable (Event) -> Void
    ) async throws {
        let id = asset.id
        let budget = DownloadBudget(asset, in: library, configuration.limits)
        // The task is canceled at the end of this scope.
        async let _: Void = reportProgress(meter, of: id, report)
        let claims = library.keepClaimsOpen(id)
        defer { withExtendedLifetime(claims) {} }
        var queue = FetchQueue(policy: loader.policy)
        let commits = CommitQueue(library)
        let limiter = makeLimiter()
        var firstError: (any Error)?
        try await withThrowingTaskGroup(of: TransferStep.self) { group in
            // A connection receives the next file while the one before is being stored.
            var receivingCount = 0
            var storingCount = 0
            do {
                fetching: while true {
                    // With a limit of the rate, the number depends on the other downloads of the session.
                    let wantedCount = configuration.maximumConcurrentFetches
                    let fetchCount = limiter?.fetchCount(atMost: wantedCount) ?? wantedCount
                    let maximumStoringCount = Self.storingCount(receiving: fetchCount)
                    filling: while receivingCount < fetchCount, storingCount < maximumStoringCount {
                        switch queue.next() {
                        case .fetch(let resource):
                            let transfer = FileTransfer(
                                resource: resource,
                                assetID: id,
                                library: library,
                                loader: loader,
                                commits: commits,
                                meter: meter,
                                budget: budget,
                                limiter: limiter,
                                yieldsToPlayback: true,
                                time: time,
                                verification: verification
                            )
                            receivingCount += 1
                            group.addTask(executorPreference: loader.transport.executor) {
                                await TransferStep(transfer, isStoring: false) { try await transfer.receive() }
                            }
                        case .readNextPage(let last):
                            queue.append(
                                try await BlockingOperation.run { [library] in
                                    do {
                                        return try library.missingResources(
                                            id,
                                            after: last,
                                            in: folders,
                                            onlyLost: onlyLost
                                        )
                                    } catch let error as StorageError where error.code == .notFound {
                                        throw AssetLibrary.deletedMeanwhile
                                    }
                                }
                            )
                        case .wait: break filling
                        case .finish, .fail: break fetching
                        }
                    }
                    guard let step = try await group.next() else { break }
                    if step.isStoring { storingCount -= 1 } else { receivingCount -= 1 }
                    switch step.result {
                    case .success(.received(let file)):
                        storingCount += 1
                        group.addTask(executorPreference: loader.transport.executor) {
                            await TransferStep(step.transfer, isStoring: true) {
                                try await step.transfer.store(file)
                                return .stored
                            }
                        }
                    case .success(.stored):
                        queue.fetchSucceeded(step.transfer.resource)
                    case .failure(let error):
                        // Other errors, such as a full disk or a cancellation, end the download immediately.
                        guard let error = error as? TransportError else { throw error }
                        if step.transfer.resource.isDeferred {
                            // The presentation is played without I-frames.
                            queue.fetchSucceeded(step.transfer.resource)
                        } else if renewal.renewsAddresses(after: error, of: step.transfer.resource) {
                            queue.end()
                        } else {
                            let resource = step.transfer.resource
                            let explained: any Error = onlyLost ? error : Self.explaining(error, of: resource)
                            firstError = firstError ?? explained
                            queue.fetchFailed(step.transfer.resource)
                        }
                    }
                }
            } catch {
                group.cancelAll()
                while let step = try? await group.next() {
                    guard case .success(.received(let file)) = step.result else { continue }
                    try? await step.transfer.store(file)
                }
                throw error
            }
        }
        if let firstError, !renewal.isNeeded { throw firstError }
    }

    /// Returns an error with advice if its file is a subtitle segment that the server does not have: the rest of the presentation
    /// can be downloaded without it.
    private static func explaining(_ error: TransportError, of resource: StoredResource) -> any Error {
        let isMissing = error.status == 404 || error.status == 410 || error.code == .fileNotFound
        guard resource.kind == .subtitle, isMissing else { return error }
        return DownloadError(
            .transport,
            error.description,
            hint: "leave out the subtitles with --subtitles none",
            address: error.address,
            detail: error.code.rawValue,
            cause: error
        )
    }
}

/// The end of the first or the second step of a transfer: its file was received, or stored.
private struct TransferStep: Sendable {
    let transfer: FileTransfer
    let isStoring: Bool
    let result: Result<FileTransfer.Reception, any Error>

    init(
        _ transfer: FileTransfer,
        isStoring: Bool,
        _ body: () async throws -> FileTransfer.Reception
    ) async {
        self.transfer = transfer
        self.isStoring = isStoring
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
    }
}
