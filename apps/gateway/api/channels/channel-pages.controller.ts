import { create } from '@bufbuild/protobuf';
import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AnswerAddressSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { AddressLinks, type AddressAnswer } from '#secrets';
import { CommandClient } from '#transport';
import { sendPage } from '../../http/html-page.js';
import { page } from './page.js';

const TEXTS: Readonly<Record<AddressAnswer, { question: string; button: string; done: string }>> = {
  verify: {
    question: 'Do you want to get messages of this Earshot installation at this address?',
    button: 'Yes, confirm my address',
    done: 'Your address is confirmed. Each mail contains a link to unsubscribe.',
  },
  unsubscribe: {
    question: 'Do you want to stop the messages of this channel to this address?',
    button: 'Unsubscribe',
    done: 'You have unsubscribed. You get no more messages of this channel.',
  },
};

/**
 * Serves the pages that mails link to, for people without an account. GET only shows a question, because mail programs
 * and scanners also open links. POST makes the change. A mail program can send the POST to `unsubscribe` itself, as the
 * one-click unsubscription of RFC 8058.
 */
@Controller('channels')
export class ChannelPagesController {
  constructor(
    private readonly commands: CommandClient,
    private readonly links: AddressLinks,
  ) {}

  @Get('verify')
  askToVerify(@Query('token') token: unknown, @Res() reply: FastifyReply) {
    return this.ask('verify', token, reply);
  }

  @Post('verify')
  @HttpCode(200)
  verify(@Query('token') token: unknown, @Res() reply: FastifyReply) {
    return this.act('verify', token, reply);
  }

  @Get('unsubscribe')
  askToUnsubscribe(@Query('token') token: unknown, @Res() reply: FastifyReply) {
    return this.ask('unsubscribe', token, reply);
  }

  @Post('unsubscribe')
  @HttpCode(200)
  unsubscribe(@Query('token') token: unknown, @Res() reply: FastifyReply) {
    return this.act('unsubscribe', token, reply);
  }

  private ask(answer: AddressAnswer, token: unknown, reply: FastifyReply) {
    const ref = this.refOf(answer, token);
    if (!ref) return sendPage(reply, 404, GONE);
    const { question, button } = TEXTS[answer];
    return sendPage(reply, 200, page(ref.address, question, { button }));
  }

  private async act(answer: AddressAnswer, token: unknown, reply: FastifyReply) {
    const ref = this.refOf(answer, token);
    if (!ref) return sendPage(reply, 404, GONE);
    const { found } = await this.commands.request(
      COMMANDS.answerAddress,
      create(AnswerAddressSchema, { commandId: newId(), ...ref, answer }),
    );
    // A deleted channel sends no mail, so nothing is left to unsubscribe.
    const isDone = found || answer === 'unsubscribe';
    return isDone ? sendPage(reply, 200, page(ref.address, TEXTS[answer].done)) : sendPage(reply, 404, GONE);
  }

  private refOf(answer: AddressAnswer, token: unknown) {
    return typeof token === 'string' ? this.links.read(answer, token, Date.now()) : undefined;
  }
}

const GONE = page(
  'This link is not valid',
  'It is incomplete or too old, or its channel or address does not exist any more.',
);
