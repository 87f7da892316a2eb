import AssetStorage
import Dispatch
import Foundation
import Testing

@testable import MillstreamDownloads

/// An executor that runs jobs one after another, in the order in which they are enqueued.
private final class SerialExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "serial")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

@Suite struct CommitQueueTests {
    private let temporary: TemporaryLibrary
    private let files: RecordingFiles
    private let library: AssetLibrary
    private let resources: [StoredResource]
    private let id: String

    init() throws {
        temporary = try TemporaryLibrary()
        resources = try temporary.plannedFiles(6)
        id = try #require(try temporary.library.assets().first?.id)
        files = RecordingFiles(temporary.directory)
        library = try AssetLibrary(directory: temporary.directory, files: files)
    }

    private func received(_ index: Int) throws -> PackageFile {
        let file = library.makePackageFile(for: resources[index], of: id)
        try [UInt8(index)].withUnsafeBytes { try file.write($0) }
        return file
    }

    private var commits: Int {
        files.operations.count { if case .commit = $0 { true } else { false } }
    }

    private var stored: [Int] {
        get throws { try library.resources(id).indices.filter { try library.resources(id)[$0].bytes != nil } }
    }

    /// Commits the first file, and the other files while the first commit is in progress.
    ///
    /// - Parameters:
    ///   - count: The number of files.
    ///   - call: The operation after the first commit that fails; `nil` if none fails.
    /// - Returns: The results, in the order of the files.
    /// - Throws: The error of a file that cannot be written.
    private func commitTogether(_ count: Int, failing call: Int? = nil) async throws -> [Result<Void, any Error>] {
        let queue = CommitQueue(library)
        let (files, resources) = (files, resources)
        let received = try (0..<count).map { try self.received($0) }
        let (started, start) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        files.beforeNextCommit {
            start.finish()
            gate.wait()
            if let call { files.fail(call, with: EIO) }
        }
        return await withTaskGroup(of: (Int, Result<Void, any Error>)?.self) { group in
            let executor = SerialExecutor()
            func commit(_ index: Int) {
                group.addTask(executorPreference: executor) {
                    do {
                        return (index, .success(try await queue.commit(received[index], as: resources[index])))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            commit(0)
            for await _ in started {}
            for index in 1..<count { commit(index) }
            // This job runs after all commits are waiting, since the executor is serial.
            group.addTask(executorPreference: executor) {
                gate.signal()
                return nil
            }
            var results: [Int: Result<Void, any Error>] = [:]
            for await case let (index, result)? in group { results[index] = result }
            return (0..<count).compactMap { results[$0] }
        }
    }

    @Test(.timeLimit(.minutes(10))) func filesCompletedDuringACommitAreCommittedTogether() async throws {
        let results = try await commitTogether(5)
        #expect(results.count == 5)
        for result in results { try result.get() }
        #expect(commits == 2)
        #expect(try stored == [0, 1, 2, 3, 4])
    }

    @Test(.timeLimit(.minutes(10))) func eachFileOfAFailedGroupReceivesTheError() async throws {
        // Each of the four files is synchronized and renamed; the synchronization of the folder fails.
        let results = try await commitTogether(5, failing: 8)
        #expect(results.count == 5)
        try results[0].get()
        for result in results.dropFirst() {
            let error = #expect(throws: StorageError.self) { try result.get() }
            #expect(error?.code == .disk)
        }
        #expect(commits == 1)
        #expect(try stored == [0])
    }

    @Test(.timeLimit(.minutes(10))) func fileThatCannotBeSynchronizedFailsAlone() async throws {
        let results = try await commitTogether(5, failing: 0)
        #expect(results.count == 5)
        let error = #expect(throws: StorageError.self) { try results[1].get() }
        #expect(error?.code == .disk)
        for index in [0, 2, 3, 4] { try results[index].get() }
        #expect(commits == 2)
        #expect(try stored == [0, 2, 3, 4])
    }

    @Test(.timeLimit(.minutes(10))) func queueContinuesAfterAnError() async throws {
        let queue = CommitQueue(library)
        let first = try received(0)
        files.fail(0, with: EIO)
        await #expect(throws: StorageError.self) { try await queue.commit(first, as: resources[0]) }
        files.stopFailing()
        try await queue.commit(first, as: resources[0])
        #expect(try stored == [0])
        let second = try received(1)
        try await queue.commit(second, as: resources[1])
        #expect(try stored == [0, 1] && commits == 2)
    }
}
