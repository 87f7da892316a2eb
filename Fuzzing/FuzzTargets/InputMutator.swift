/// A deterministic generator of mutated inputs, which replaces libFuzzer in ordinary builds.
package struct InputMutator {
    private let seeds: [[UInt8]]
    private let tokens: [[UInt8]]
    private let maximumLength: Int
    private var state: UInt64

    /// Creates a mutator.
    ///
    /// - Parameters:
    ///   - seeds: The inputs to mutate.
    ///   - tokens: The dictionary tokens to insert.
    ///   - maximumLength: The maximum length of an input, in bytes.
    ///   - number: The seed of the random sequence.
    package init(seeds: [[UInt8]], tokens: [[UInt8]], maximumLength: Int, number: UInt64) {
        self.seeds = seeds.isEmpty ? [[]] : seeds
        self.tokens = tokens
        self.maximumLength = maximumLength
        state = number
    }

    /// Returns the next input.
    package mutating func next() -> [UInt8] {
        var input = seeds[below(seeds.count)]
        for _ in 0..<(1 + below(6)) { mutate(&input) }
        return Array(input.prefix(maximumLength))
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let position = below(input.count + 1)
        let end = min(input.count, position + 1 + below(16))
        switch below(10) {
        case 0 where position < input.count: input[position] ^= 1 << UInt8(below(8))
        case 1 where position < input.count: input[position] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][below(6)]
        case 2: input.removeSubrange(position..<end)
        case 3: input.insert(contentsOf: input[position..<end], at: below(input.count + 1))
        case 4: input.insert(contentsOf: (0..<(1 + below(4))).map { _ in UInt8(below(256)) }, at: position)
        case 5: overwriteInteger(&input, position)
        case 6: replaceNumber(&input)
        case 7 where !tokens.isEmpty: input.insert(contentsOf: tokens[below(tokens.count)], at: position)
        case 8:
            let other = seeds[below(seeds.count)]
            input.replaceSubrange(position..., with: other.dropFirst(below(other.count + 1)))
        default: if input.count > 8 { input.removeLast(below(input.count / 2)) }
        }
    }

    /// Overwrites two, four or eight bytes with an extreme integer in big-endian order.
    private mutating func overwriteInteger(_ input: inout [UInt8], _ position: Int) {
        let extremes: [UInt64] = [
            0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 53, .max >> 1, 1 << 63, .max, .max - 1, 0x7FFF, 0xFFFF,
        ]
        let value = extremes[below(extremes.count)]
        let size = [2, 4, 8][below(3)]
        for index in 0..<size where position + index < input.count {
            input[position + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (size - 1 - index)))
        }
    }

    /// Replaces a decimal number in text with an extreme one.
    private mutating func replaceNumber(_ input: inout [UInt8]) {
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) }
        guard let start = input.indices.dropFirst(below(max(1, input.count))).first(where: { isDigit(input[$0]) })
        else {
            return
        }
        let end = input[start...].firstIndex { !isDigit($0) } ?? input.count
        let number = ChoiceReader.extremeNumbers[below(ChoiceReader.extremeNumbers.count)]
        input.replaceSubrange(start..<end, with: Array(number.utf8))
    }

    /// Returns a random number from 0 up to, but not including, a bound (SplitMix64).
    private mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(max(1, bound)))
    }
}
