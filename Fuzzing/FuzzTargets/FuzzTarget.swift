/// A reader of bytes from outside, with what a fuzzer needs to know of it.
///
/// A target of this name has its seeds in `Fuzzing/Seeds/NAME`, and its tokens in `Fuzzing/Dictionaries/NAME.dict`
/// where there are any. To add a reader, add it to one of the tables: `FuzzTarget.formats` for readers without effects,
/// `FuzzTarget.streams` for those that need transports, storage or the engine. `Scripts/fuzz` and the replay in the test
/// suite follow the tables.
package struct FuzzTarget: Sendable {
    /// The name on the command line, and the name of the folder of seeds.
    package let name: String
    /// The kind of input, in a few words.
    package let summary: String
    /// The maximum length of an input, in bytes.
    package let maximumLength: Int
    /// The number of mutated inputs of a replay; slow targets have fewer.
    package let replayCount: Int
    /// The targets whose seeds are read as well.
    package let furtherSeeds: [String]
    /// The folder of the shared test data whose files are seeds as well, where `MILLSTREAM_SHARED` names one.
    package let sharedSeeds: String?
    /// Reads an input and checks the result; a failed check traps.
    package let run: @Sendable ([UInt8]) -> Void

    /// Creates a target.
    package init(
        _ name: String,
        _ summary: String,
        maximumLength: Int = 4_096,
        replayCount: Int = 400,
        furtherSeeds: [String] = [],
        sharedSeeds: String? = nil,
        run: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.maximumLength = maximumLength
        self.replayCount = replayCount
        self.furtherSeeds = furtherSeeds
        self.sharedSeeds = sharedSeeds
        self.run = run
    }

    /// A target that traps on inputs that begin with `trap`, for tests of the programs that run targets.
    package static let trap = FuzzTarget("trap", "a test of the fuzzer") { bytes in
        check(!bytes.starts(with: "trap".utf8), "the input begins with trap")
    }

    /// The readers that have no effects, in the order in which they are listed.
    package static let formats: [FuzzTarget] = playlistTargets + mediaTargets + subtitleTargets + textTargets
}

/// Traps where a property of the result does not hold, in release builds as well.
package func check(
    _ condition: @autoclosure () -> Bool,
    _ message: @autoclosure () -> String = "a property of the result does not hold",
    file: StaticString = #file,
    line: UInt = #line
) {
    // A precondition has no message in release builds.
    if !condition() { fatalError(message(), file: file, line: line) }
}
