import Foundation
import NetworkConditioning

/// The network conditions of simulations, from the values of the option `--trace`.
struct SimulatedTraces {
    /// The paths of the files, and the names of predefined conditions, in the order in which they are simulated.
    let paths: [String]

    /// Finds the files that the values name.
    ///
    /// - Parameters:
    ///   - values: Files, names of conditions, and folders, whose files with the extension json are used in the order of their
    ///     names.
    ///   - failures: The failures of the command, to which folders that cannot be read are added.
    /// - Throws: An error after which no other value is read.
    init(_ values: [String], failures: inout Failures) throws {
        var paths: [String] = []
        for value in values {
            try failures.collect { paths.append(contentsOf: try Self.files(of: value)) }
        }
        self.paths = paths
    }

    /// Reads the conditions.
    ///
    /// Conditions whose names are equal are named after their paths.
    ///
    /// - Parameter failures: The failures of the command, to which files that cannot be read are added.
    /// - Returns: The conditions of the other files, in order.
    /// - Throws: An error after which no other file is read.
    func profiles(failures: inout Failures) throws -> [LinkProfile] {
        var read: [(path: String, profile: LinkProfile)] = []
        for path in paths {
            try failures.collect { read.append((path, try ConditionsFlag.profile(path))) }
        }
        let groups = Dictionary(grouping: read) { $0.profile.name }
        return read.map { path, profile in
            var profile = profile
            if let group = groups[profile.name], group.count > 1 { profile.name = path }
            return profile
        }
    }

    private static func files(of value: String) throws -> [String] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: value, isDirectory: &isDirectory), isDirectory.boolValue else {
            return [value]
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: value) else {
            throw Failure(.failed, "file-failed", "the folder \(value) cannot be read")
        }
        let traces = names.filter { $0.hasSuffix(".json") }.sorted()
        guard !traces.isEmpty else { throw Failure(.badInput, "no-traces", "there are no .json files in \(value)") }
        return traces.map { value.hasSuffix("/") ? "\(value)\($0)" : "\(value)/\($0)" }
    }
}
